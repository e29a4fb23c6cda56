"""One line of a log: how it is written, how it is read, what its hash covers.

    {"v":1,"log":…,"seq":…,"time":…,"mono":…,"session":…,"turn":…,"event":…,"hook":…,
     "registration":…,"type":…,"body":{…},"prev":…,"hash":…}

All members, in this order, on one line of printable ASCII that ends with LF. `hash` is SHA-256 over
a label and the exact bytes of the line up to the comma before `"hash"`.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from math import isinf
from typing import Any

from pydantic_core import from_json, to_json

from amplifier_audit.errors import AuditError
from amplifier_audit.format.describing import safe_repr
from amplifier_audit.format.encoding import KEY_LIMIT, RECORD_LIMIT, SAFE_INTEGER, encode_member

VERSION = 1
LABEL = b"amplifier-audit record v1\n"
GENESIS = "0" * 64
MEMBERS = (
    *("v", "log", "seq", "time", "mono", "session", "turn", "event", "hook", "registration"),
    *("type", "body", "prev", "hash"),
)
PRINTABLE = bytes(range(0x20, 0x7F))
TAIL = len(',"hash":""}\n') + 64

Record = dict[str, Any]


class MalformedRecord(AuditError):
    """A line that no writer of this format has written."""


class NanoClock:
    """ISO 8601 in UTC with nanoseconds; the date is formatted once a second."""

    __slots__ = ("_now", "_prefix", "_second")

    def __init__(self, now: Callable[[], int] = time.time_ns) -> None:
        self._now = now
        self._second = -1
        self._prefix = ""

    def __call__(self) -> str:
        second, fraction = divmod(self._now(), 1_000_000_000)
        if second != self._second:
            self._prefix = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
            self._second = second
        return f"{self._prefix}.{fraction:09d}Z"


def encode_source(
    type: str,
    session: str | None,
    turn: int | None,
    event: str | None,
    hook: str | None,
    registration: int | None,
) -> bytes:
    """The members that say where a record comes from."""
    return b'"session":%b,"turn":%b,"event":%b,"hook":%b,"registration":%b,"type":%b' % (
        encode_member(session),
        encode_member(turn),
        encode_member(event),
        encode_member(hook),
        encode_member(registration),
        encode_member(_short(type)),
    )


def _short(text: Any) -> str:
    """The type of a record is always a text, and a short one."""
    return (str.__str__(text) if isinstance(text, str) else safe_repr(text))[:KEY_LIMIT]


def record_hash(covered: bytes) -> str:
    """The hash of a record, from the bytes that it covers."""
    return hashlib.sha256(LABEL + covered).hexdigest()


def is_intact(line: bytes) -> bool:
    """Whether a line (with its LF) is what its own hash says."""
    own = hashlib.sha256(LABEL + line[:-TAIL]).hexdigest()
    return line[-TAIL:] == b',"hash":"%b"}\n' % own.encode("ascii")


def covered_bytes(line: bytes) -> bytes:
    """The part of a line (with its LF) that its hash covers."""
    return line[:-TAIL]


def claimed_hash(line: bytes) -> str | None:
    """The hash that a line (with its LF) states; None when it does not end like a record."""
    if line[-TAIL : -TAIL + 9] != b',"hash":"' or line[-3:] != b'"}\n':
        return None
    return line[-TAIL + 9 : -3].decode("ascii", "replace")


def parse(line: bytes) -> Record:
    """The record of a line (with its LF), read strictly."""
    if len(line) > RECORD_LIMIT:
        raise MalformedRecord(f"a line of {len(line)} bytes; at most {RECORD_LIMIT} are allowed")
    record = _as_written(line)
    if record is None:
        record = _read_strictly(line)
    if not isinstance(record, dict) or tuple(record) != MEMBERS:
        raise MalformedRecord("not the members of a record, in their order")
    version, log, sequence, written, *_, kind, body, previous, own = record.values()
    if version != VERSION or type(version) is not int:
        raise MalformedRecord(f"format version {version!r}; this program reads {VERSION}")
    if type(sequence) is not int or sequence < 0 or type(body) is not dict:
        raise MalformedRecord("sequence or body is of the wrong type")
    if not type(log) is type(written) is type(kind) is type(previous) is type(own) is str:
        raise MalformedRecord("a member that must be text is not")
    return record


def _as_written(line: bytes) -> Any:
    """The short way: a line that the encoder writes again byte for byte holds nothing odd.

    It says nothing about the hash, which is over the bytes as they are. None if it may be odd.
    """
    try:
        value = from_json(line, allow_inf_nan=False, cache_strings="keys")
        same = to_json(value, ensure_ascii=b"\\u" in line) == line[:-1]
    except ValueError:
        return None
    usual = (
        same and line.isascii() and b"\x7f" not in line and _LONG_RUN not in line.translate(_DIGITS)
    )
    return value if usual else None


def _read_strictly(line: bytes) -> Any:
    if line[-1:] != b"\n" or line[:-1].translate(None, PRINTABLE):
        raise MalformedRecord("bytes outside printable ASCII")
    text = line[:-1].decode("ascii")
    try:
        value, end = _scan(text, 0)
    except (ValueError, StopIteration, RecursionError) as error:
        raise MalformedRecord("not JSON") from error
    if end != len(text):
        raise MalformedRecord("data after the end of the record")
    if "\\ud" in text:
        _refuse_surrogates(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> Record:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise MalformedRecord("a key occurs twice in one object")
    return members


def _finite(text: str) -> float:
    number = float(text)
    if isinf(number):
        raise MalformedRecord(f"the number {text} is out of range")
    return number


def _safe(text: str) -> int:
    if len(text) > 17 or not -SAFE_INTEGER <= (number := int(text)) <= SAFE_INTEGER:
        raise MalformedRecord(f"the number {text[:40]} is beyond 2^53")
    return number


def _constant(text: str) -> float:
    raise MalformedRecord(f"{text} is no JSON")


_DIGITS = bytes(0x30 if 0x30 <= byte <= 0x39 else 0 for byte in range(256))
_LONG_RUN = b"0" * 16
_Scan = Callable[[str, int], tuple[Any, int]]
_scan: _Scan = vars(
    json.JSONDecoder(
        object_pairs_hook=_unique, parse_float=_finite, parse_int=_safe, parse_constant=_constant
    )
)["scan_once"]


def _refuse_surrogates(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise MalformedRecord("a lone surrogate") from error
