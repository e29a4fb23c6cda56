"""Reads JSON strictly: anything that two parsers could read differently is refused.

Printable ASCII only, no duplicate key, no NaN or infinity, no integer beyond 2^53, no lone
surrogate, nothing after the value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from math import isinf
from typing import Any

from amplifier_audit.errors import MalformedRecord

SAFE_INTEGER = 2**53
RECORD_LIMIT = 64 * 1024
# The rest of the 64 KiB is for the other members of the line: 512 bytes are enough for those whose
# length is known, and these are for those that a caller gives.
BODY_LIMIT = RECORD_LIMIT - 4096
SOURCE_LIMIT = 4096 - 512
KEY_LIMIT = 256


@dataclass(frozen=True, slots=True)
class Limits:
    """What is longer, wider or deeper is cut."""

    text: int
    members: int
    depth: int
    nodes: int


WIDE = Limits(text=8192, members=256, depth=16, nodes=2000)
NARROW = Limits(text=256, members=32, depth=8, nodes=150)


# Digits become 0, what may not stand in a line becomes an exclamation mark.
_KIND_OF = dict.fromkeys(range(0x20, 0x7F), ord(" ")) | dict.fromkeys(b"0123456789", ord("0"))
_KINDS = bytes(_KIND_OF.get(byte, ord("!")) for byte in range(256))
# An integer beyond 2^53 has at least this many digits.
_LONG_RUN = b"0" * 16
# A backslash with none before it does begin an escape; after another one it may be a character.
_PAIR = re.compile(r"(?<!\\)\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}")


def read_json(content: bytes) -> Any:
    """The value; MalformedRecord says what is wrong."""
    kinds = content.translate(_KINDS)
    if b"!" in kinds:
        raise MalformedRecord("bytes outside printable ASCII")
    text = content.decode("ascii")
    # A call for each integer costs more than this look; nearly no line has such a run.
    scan = _scan_with_integers if _LONG_RUN in kinds else _scan
    try:
        value, end = scan(text, 0)
    except (ValueError, StopIteration, RecursionError) as error:
        raise MalformedRecord("not JSON") from error
    if end != len(text):
        raise MalformedRecord("data after the end of the record")
    if "\\" in text and _may_have_lone_surrogate(text):
        _refuse_surrogates(value)
    return value


def _make_unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedRecord("a key occurs twice in one object")
    return members


def _parse_float(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise MalformedRecord(f"the number {text} is out of range")
    return number


def _parse_integer(text: str) -> int:
    if len(text) > 17 or not -SAFE_INTEGER <= (number := int(text)) <= SAFE_INTEGER:
        raise MalformedRecord(f"the number {text[:40]} is beyond 2^53")
    return number


def _refuse_constant(text: str) -> float:
    raise MalformedRecord(f"{text} is not JSON")


def _make_scanner(
    parse_integer: Callable[[str], int] | None = None,
) -> Callable[[str, int], tuple[Any, int]]:
    """The scanner inside the standard library's decoder, which says where a value ends."""
    decoder = json.JSONDecoder(
        object_pairs_hook=_make_unique,
        parse_float=_parse_float,
        parse_constant=_refuse_constant,
        parse_int=parse_integer,
    )
    scanner: Callable[[str, int], tuple[Any, int]] = vars(decoder)["scan_once"]
    return scanner


_scan = _make_scanner()
_scan_with_integers = _make_scanner(_parse_integer)


def _may_have_lone_surrogate(text: str) -> bool:
    """Whether some surrogate is not evidently half of a pair, as those of emoji are."""
    if "\\ud" not in text and "\\uD" not in text:
        return False
    rest = _PAIR.sub("", text)
    return "\\ud" in rest or "\\uD" in rest


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise MalformedRecord("a lone surrogate") from error
