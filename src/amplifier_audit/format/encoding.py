"""What a caller gives to a record, as JSON that the strict parser takes: its source and its body.

Within limits, in ASCII, and never raising. Most bodies are plain and short: they are encoded at
once, and only the others are walked. Only writers import this file, and with it pydantic_core where
that is installed; reading and verifying need the standard library alone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from itertools import islice, repeat
from typing import Any

from amplifier_audit.format.limits import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    SAFE_INTEGER,
    SOURCE_LIMIT,
    WIDE,
    Limits,
)
from amplifier_audit.format.record_types import mark_foreign
from amplifier_audit.format.walk import Walk, digest_text, safe_repr

CUT_TYPE = 40
_SOURCE = b'"session":%b,"turn":%b,"event":%b,"hook":%b,"registration":%b,"type":%b'
_KEPT = frozenset({str, bool, type(None)})
_CONTAINERS = frozenset({dict, list})


def load_dump() -> Callable[[Any], bytes]:
    """The encoder of pydantic_core, or the slower one of the standard library."""
    try:
        from pydantic_core import to_json
    except ImportError:
        encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
        return lambda value: encoder.encode(value).encode("ascii")
    return partial(to_json, ensure_ascii=True)


_dump = load_dump()


def encode(value: Any, limits: Limits = WIDE) -> bytes:
    """Printable ASCII, no line break, no lone surrogate, no NaN, no duplicate key."""
    text = encode_plain(value) if limits is WIDE else None
    return _walk(value, limits) if text is None else text


def encode_body(body: Any) -> bytes:
    """The body of a record: an object that leaves room for the other members of the line."""
    plain = encode_plain(body)
    if plain is not None:
        return plain
    given = body if isinstance(body, Mapping) else {"value": body}
    for limits in (WIDE, NARROW):
        text = _walk(given, limits)
        if len(text) <= BODY_LIMIT:
            return text
    return _dump({"$cut": "record", "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()})


def encode_plain(value: Any) -> bytes | None:
    """The JSON of an object that needs no walk, which is nearly every body, or None."""
    if type(value) is not dict:
        return None
    try:
        text = _dump(value) if _is_plain(value) else b""
    except Exception:  # noqa: BLE001 - lone surrogates, a dict that another thread changes, ...
        return None
    # No text inside is longer than the whole. Surrogates, even in pairs, are left to the walk.
    if not text or len(text) > WIDE.text or b"\\ud" in text:
        return None
    return _escape_delete(text)


def encode_source(
    type: Any,
    session: Any,
    turn: Any,
    event: Any,
    hook: Any,
    registration: Any,
    *,
    foreign: bool = False,
) -> bytes:
    """The members that say where a record comes from; a foreign one cannot be the log's own."""
    try:
        return _encode_plain_source(type, session, turn, event, hook, registration, foreign)
    except Exception:  # noqa: BLE001 - not plain, or no key of a cache: hashing may raise anything
        return _encode_source(type, session, turn, event, hook, registration, foreign=foreign)


def encode_member(value: Any) -> bytes:
    """A short member of the line itself, such as the session or the name of a hook."""
    if type(value) is str:
        return _encode_name(value) if len(value) <= KEY_LIMIT else encode(digest_text(value))
    if value is None:
        return b"null"
    if type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return b"%d" % value
    return encode(value, NARROW)


def _walk(value: Any, limits: Limits) -> bytes:
    try:
        text = _dump(Walk(limits).simplify(value))
    except Exception as error:  # noqa: BLE001 - a dict that another thread changes, memory, ...
        text = _dump({"$cut": "unreadable", "error": type(error).__name__})
    return _escape_delete(text)


def _escape_delete(text: bytes) -> bytes:
    """JSON leaves DEL as it is; a terminal would not."""
    return text.replace(b"\x7f", b"\\u007f") if b"\x7f" in text else text


def _is_plain(value: dict[Any, Any]) -> bool:
    """Whether a dict holds only what JSON and the strict parser take as it is, and not much of it.

    So few containers cannot be nested too deep, nor hold one another without an end.
    """
    containers: list[Any] = [value]
    for container in islice(containers, WIDE.depth):
        if len(container) > WIDE.members:
            return False
        items = container.items() if type(container) is dict else zip(repeat(""), container)
        for key, entry in items:
            kind = type(entry)
            if type(key) is not str or len(key) > KEY_LIMIT:
                return False
            if kind in _CONTAINERS:
                containers.append(entry)
            elif kind not in _KEPT and not _is_plain_number(entry):
                return False
    return len(containers) <= WIDE.depth


def _is_plain_number(value: Any) -> bool:
    if type(value) is int:
        return bool(-SAFE_INTEGER <= value <= SAFE_INTEGER)
    # NaN and the infinities are the numbers that do not cancel themselves out.
    return type(value) is float and value - value == 0


# Typed, because 1 and True are the same key and not the same JSON.
@lru_cache(maxsize=2048, typed=True)
def _encode_plain_source(*given: Any) -> bytes:
    """Remembered, because most records come from where another came from."""
    *members, foreign = given
    for member in members:
        if type(member) is str and len(member) <= KEY_LIMIT:
            continue
        # Anything else might be large, or be another thing when it is met again.
        if member is not None and not (type(member) is int and _is_plain_number(member)):
            raise TypeError(member)
    return _encode_source(*members, foreign=foreign)


@lru_cache(maxsize=2048)
def _encode_name(name: str) -> bytes:
    """Remembered too, because a new turn is a new source with the same names."""
    return encode(name)


def _encode_source(type: Any, *given: Any, foreign: bool) -> bytes:
    kind = mark_foreign(type) if foreign else type
    source = _SOURCE % (*map(encode_member, given), encode_member(_shorten(kind)))
    if len(source) <= SOURCE_LIMIT:
        return source
    return _SOURCE % (*map(_encode_cut, given), encode_member(_shorten(kind, CUT_TYPE)))


def _shorten(text: Any, limit: int = KEY_LIMIT) -> str:
    """The type of a record is always a text, and a short one."""
    return (str.__str__(text) if isinstance(text, str) else safe_repr(text))[:limit]


def _encode_cut(value: Any) -> bytes:
    """A member of a line that would be too long: as it is if it is short, else its digest."""
    text = encode_member(value)
    if len(text) <= KEY_LIMIT:
        return text
    digest = hashlib.sha256(text).hexdigest()
    return encode_member({"$cut": "member", "bytes": len(text), "sha256": digest})
