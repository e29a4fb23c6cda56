"""Records of all kinds, right and wrong, as whoever wants to deceive a verifier would make them."""

from __future__ import annotations

import random
import re
from typing import Any

from amplifier_audit.encoding import encode_body, encode_source
from amplifier_audit.errors import MalformedRecord
from amplifier_audit.record import parse_inner

ODD_VALUES = [
    *(b"NaN", b"Infinity", b"-Infinity", b"nan", b"nul", b"True", b"true", b"null", b"", b" 1"),
    *(b"01", b"-01", b"00.5", b"1.", b".5", b"-", b"--1", b"+1", b"1.2.3", b"0x10", b"1_000"),
    *(b"1e5", b"1E5", b"1e999", b"-1e999", b"1.5e-7", b"-0", b"-0.0", b"0.0", b"1" * 15),
    *(b"1" * 16, b"9007199254740992", b"9007199254740993", b"-9007199254740993", b"1" * 400),
    *(b"1" * 400 + b".0", b"1." + b"1" * 17, b"1." + b"1" * 18, b"0." + b"0" * 400),
    *(rb'"\ud800"', rb'"\udc00"', rb'"\ud83d\ude00"', rb'"\uD83D\uDE00"', rb'"\ude00\ud83d"'),
    *(rb'"\\ud800"', rb'"\\\ud800"', rb'"\ud83d\\ude00"', rb'"\ud83d x"', rb'"\ud83d\u0061"'),
    *(
        rb'"\u0041"',
        rb'"\u00e9"',
        rb'"\u12"',
        rb'"\x41"',
        rb'"\/\b\f\n\r\t\"\\"',
        rb'"\'"',
        rb'"\"',
    ),
    *(
        b'"\x7f"',
        b'"\t"',
        b'"\x00"',
        b'"\n"',
        b'"\r"',
        b'"\xc3\xa9"',
        b'"\xff"',
        b'"a"b"',
        b'"',
        b'""',
    ),
    *(b'"a":1', b'"a","b":"c"', b'1,"b":2', b'"x"},"type":"y","body":{"z":1', b"[]", b"{}", b"[,]"),
    *(
        b'{"a":1,"a":2}',
        b'{"a":1,"\\u0061":2}',
        b'{"a":{"b":1,"b":1}}',
        b'{"a":1,}',
        b"[1,]",
        b"[1 ]",
    ),
    *(b"[" * 5000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"[[[[]]]]"),
    *(b'"checkpoint"', rb'"checkpoi\u006et"', b'"dispatch"', b'"log_opened"'),
]
_PIECE = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.0-9a-zA-Z]+|[^"]', re.DOTALL)


def make_content(seed: int) -> bytes:
    """The members from `time` to `body` of a record of some kind, as a writer makes them."""
    chance = random.Random(seed)
    number = chance.randrange(10_000)
    bodies: list[dict[str, Any]] = [
        {"action": "continue", "hook": f"guard-{number % 5}", "ms": number / 1000},
        {"n": number, "text": chance.choice(["héllo \x7f", 'a "quoted" \\ text\n', "😀", ""])},
        {
            "hooks": [{"hook": "a", "id": number}, {"hook": "b", "id": None}],
            "data": {"a": [1, 2.5]},
        },
        {"deep": {"a": {"b": {"c": [[[number]]], "d": True}}}, "a": {}, "b": []},
        {},
    ]
    kind = number % len(bodies)
    session = None if kind == 3 else f"session-{number % 7}"
    source = encode_source(
        f"kind_{kind}", session, number // 10, "tool:pre", chance.choice([None, "guard"]), number
    )
    return b'"time":"2026-11-17T22:43:20.%09dZ","mono":%d,%b,"body":%b' % (
        chance.randrange(10**9),
        chance.randrange(10**10),
        source,
        encode_body(bodies[kind]),
    )


def spoil_content(content: bytes, seed: int) -> bytes:
    """The same with something that is odd; now and then it is still right."""
    chance = random.Random(seed)
    pieces = _PIECE.findall(content)
    for _ in range(chance.choice((1, 1, 1, 2))):
        pieces = chance.choice(_WAYS)(pieces, chance)
    return b"".join(pieces)


def _change_byte(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    content = bytearray(b"".join(pieces))
    content[chance.randrange(len(content))] = chance.randrange(256)
    return [bytes(content)]


def _cut_bytes(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    content = b"".join(pieces)
    start = chance.randrange(len(content))
    return [content[:start] + content[start + chance.randrange(1, 20) :]]


def _repeat_bytes(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    content = b"".join(pieces)
    start, end = sorted((chance.randrange(len(content)), chance.randrange(len(content))))
    return [content[:end] + content[start:]]


def _put_odd_value(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    at = chance.randrange(len(pieces))
    return [*pieces[:at], chance.choice(ODD_VALUES), *pieces[at + 1 :]]


def _put_odd_text(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    """In the place of a value, so that nothing but the value is odd."""
    places = [at for at, one in enumerate(pieces) if at and pieces[at - 1] in b":[" and one != b"{"]
    at = chance.choice(places) if places else 0
    return [*pieces[:at], chance.choice(ODD_VALUES), *pieces[at + 1 :]]


def _swap_pieces(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    one, other = chance.randrange(len(pieces)), chance.randrange(len(pieces))
    swapped = list(pieces)
    swapped[one], swapped[other] = swapped[other], swapped[one]
    return swapped


def _repeat_key(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    keys = [at for at, one in enumerate(pieces[:-1]) if pieces[at + 1] == b":"]
    if len(keys) < 2:
        return pieces
    one, other = chance.sample(keys, 2)
    return [*pieces[:one], pieces[other], *pieces[one + 1 :]]


def _add_blank(pieces: list[bytes], chance: random.Random) -> list[bytes]:
    at = chance.randrange(len(pieces) + 1)
    return [*pieces[:at], chance.choice((b" ", b"  ", b"\t", b"\n", b"\r", b",")), *pieces[at:]]


_WAYS = (
    _change_byte,
    _cut_bytes,
    _repeat_bytes,
    _put_odd_value,
    _put_odd_text,
    _put_odd_text,
    _swap_pieces,
    _repeat_key,
    _add_blank,
)


def is_taken(content: bytes) -> bool:
    """What the strict parser says."""
    try:
        parse_inner(content)
    except MalformedRecord:
        return False
    return True
