"""Any value as JSON that the strict parser takes: within limits, in ASCII, never raising."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache, lru_cache
from types import ModuleType
from typing import Any

from amplifier_audit.format.limits import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    SAFE_INTEGER,
    WIDE,
    Limits,
)
from amplifier_audit.format.walk import Walk, digest_text

_dump = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode


def encode(value: Any, limits: Limits = WIDE) -> bytes:
    """Printable ASCII, no line break, no lone surrogate, no NaN, no duplicate key."""
    try:
        text = _encode_usual(value) if limits is WIDE else None
        if text is None:
            text = _dump_ascii(Walk(limits).simplify(value))
    except Exception as error:  # noqa: BLE001 - a dict that another thread changes, memory, ...
        text = _dump_ascii({"$cut": "unreadable", "error": type(error).__name__})
    # JSON leaves DEL as it is; a terminal would not.
    return text.replace(b"\x7f", b"\\u007f") if b"\x7f" in text else text


def encode_body(body: Any) -> bytes:
    """The body of a record: an object that leaves room for the other members of the line."""
    given = body if isinstance(body, Mapping) else {"value": body}
    for limits in (WIDE, NARROW):
        text = encode(given, limits)
        if len(text) <= BODY_LIMIT:
            return text
    return encode(
        {"$cut": "record", "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()}
    )


def encode_member(value: Any) -> bytes:
    """A short member of the line itself, such as the session or the name of a hook."""
    if type(value) is str:
        return _encode_short_text(value) if len(value) <= KEY_LIMIT else encode(digest_text(value))
    if value is None:
        return b"null"
    if type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return b"%d" % value
    return encode(value, NARROW)


@lru_cache(maxsize=2048)
def _encode_short_text(value: str) -> bytes:
    return encode(value)


@cache
def find_fast_encoder() -> ModuleType | None:
    """The encoder of pydantic_core, or None where that is not installed."""
    try:
        from amplifier_audit.format import fast_encoding
    except ImportError:
        return None
    return fast_encoding


def _encode_usual(value: Any) -> bytes | None:
    fast = find_fast_encoder()
    found: bytes | None = fast.encode_usual(value) if fast else None
    return found


def _dump_ascii(value: Any) -> bytes:
    fast = find_fast_encoder()
    found: bytes = fast.dump_ascii(value) if fast else _dump(value).encode("ascii")
    return found
