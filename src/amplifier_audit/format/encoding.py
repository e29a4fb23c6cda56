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
from typing import Any

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.format.limits import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    SAFE_INTEGER,
    SOURCE_LIMIT,
    WIDE,
    Limits,
)
from amplifier_audit.format.long_keys import may_have_long_key
from amplifier_audit.format.long_numbers import may_have_long_number
from amplifier_audit.format.own_records import mark_foreign
from amplifier_audit.format.plain import is_plain
from amplifier_audit.format.strict_json import read_json
from amplifier_audit.format.walk import Walk, digest_text, safe_repr

CUT_TYPE = 40
# Python reads no integer of more than 4,300 digits; whoever looks at the numbers later needs it to.
LATER_LIMIT = 4000
_PLACE = b'"session":%b,"turn":%b'
_REST = b',"event":%b,"hook":%b,"registration":%b,"type":%b'
# Together within SOURCE_LIMIT.
_PLACE_LIMIT, _REST_LIMIT = 1024, SOURCE_LIMIT - 1024


def load_dump() -> Callable[[Any], bytes]:
    """The encoder of pydantic_core, or the slower one of the standard library."""
    try:
        from pydantic_core import to_json
    except ImportError:
        encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False)
        return lambda value: encoder.encode(value).encode("ascii")
    return partial(to_json, ensure_ascii=True)


def load_short_dump() -> Callable[[Any], bytes]:
    """The same for plain values, which are nearly always ASCII: what is not, may stay as it is."""
    try:
        from pydantic_core import to_json
    except ImportError:
        return _refuse_surrogates(load_dump())
    return to_json


def _refuse_surrogates(dump: Callable[[Any], bytes]) -> Callable[[Any], bytes]:
    """As pydantic_core does; the standard library would write lone ones."""

    def dump_or_refuse(value: Any) -> bytes:
        text = dump(value)
        if b"\\ud" in text:
            raise ValueError("surrogates")
        return text

    return dump_or_refuse


_dump = load_dump()
_dump_short = load_short_dump()


def encode(value: Any, limits: Limits = WIDE) -> bytes:
    """Printable ASCII, no line break, no lone surrogate, no NaN, no duplicate key."""
    text = encode_plain(value) if limits is WIDE else None
    return _walk(value, limits) if text is None else text


def encode_body(body: Any) -> bytes:
    """The body of a record: an object that leaves room for the other members of the line."""
    plain = encode_plain(body)
    return _encode_any_body(body) if plain is None else plain


def encode_body_now(body: Any) -> bytes:
    """What `encode_bodies_later` makes the body of a record from, when the value may have changed.

    That is the body itself, but for numbers and characters that are looked at later.
    """
    # Like `encode_plain`, but without a call that can be spared: every record comes here.
    try:
        if type(body) is dict and is_plain(body):
            text = _dump_short(body)
            if not text.isascii():
                text = _dump(body)
            size = len(text)
            if size <= KEY_LIMIT or (size <= LATER_LIMIT and not may_have_long_key(text)):
                return text
    except Exception:  # noqa: BLE001 - the careful way knows what to do
        pass
    return encode_body(body)


def encode_bodies_later(texts: list[bytes]) -> list[bytes]:
    """The bodies from what `encode_body_now` made: together, because a look at each costs more."""
    return texts if _looks_strict(b" ".join(texts)) else [*map(_finish, texts)]


def encode_plain(value: Any) -> bytes | None:
    """The JSON of an object that needs no walk, which is nearly every body, or None."""
    text = _dump_plain(value)
    return None if text is None or not _is_strict(text) else text


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
        return _encode_place(session, turn) + _encode_rest(event, hook, registration, type, foreign)
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


def _encode_any_body(body: Any) -> bytes:
    given = body if isinstance(body, Mapping) else {"value": body}
    for limits in (WIDE, NARROW):
        text = _walk(given, limits)
        if len(text) <= BODY_LIMIT:
            return text
    return _dump({"$cut": "record", "bytes": len(text), "sha256": hashlib.sha256(text).hexdigest()})


def _walk(value: Any, limits: Limits) -> bytes:
    try:
        text = _dump(Walk(limits).simplify(value))
    except Exception as error:  # noqa: BLE001 - a dict that another thread changes, memory, ...
        text = _dump({"$cut": "unreadable", "error": type(error).__name__})
    # JSON leaves DEL as it is; a terminal would not.
    return text.replace(b"\x7f", b"\\u007f") if b"\x7f" in text else text


def _dump_plain(value: Any) -> bytes | None:
    """ASCII, but perhaps with numbers or characters that the strict parser refuses."""
    try:
        if type(value) is not dict or not is_plain(value):
            return None
        text = _dump_short(value)
        if not text.isascii():
            text = _dump(value)
    except Exception:  # noqa: BLE001 - lone surrogates, a dict that another thread changes, ...
        return None
    # No text inside is longer than the whole.
    return None if len(text) > WIDE.text or may_have_long_key(text) else text


def _finish(text: bytes) -> bytes:
    return text if _is_strict(text) else _walk(json.loads(text), WIDE)


def _is_strict(text: bytes) -> bool:
    """Whether the strict parser takes the JSON of a plain value."""
    if _looks_strict(text):
        return True
    try:
        read_json(text)
    except MalformedRecord:
        return False
    return True


def _looks_strict(text: bytes) -> bool:
    if b"\x7f" in text or may_have_long_number(text):
        return False
    # One letter is found much faster than a word, and often there is none.
    if b"N" in text and b"NaN" in text:
        return False
    return b"I" not in text or b"Infinity" not in text


# Typed, because 1 and True are the same key and not the same JSON.
@lru_cache(maxsize=2048, typed=True)
def _encode_place(session: Any, turn: Any) -> bytes:
    """Remembered, because a turn makes many records, and a new one is a new place."""
    _refuse_unusual(session, turn)
    return _refuse_long(_PLACE % (encode_member(session), encode_member(turn)), _PLACE_LIMIT)


@lru_cache(maxsize=2048, typed=True)
def _encode_rest(event: Any, hook: Any, registration: Any, type: Any, foreign: bool) -> bytes:
    """Remembered, because the same events and hooks make records in each turn."""
    _refuse_unusual(event, hook, registration, type)
    kind = _shorten(mark_foreign(type) if foreign else type)
    members = map(encode_member, (event, hook, registration, kind))
    return _refuse_long(_REST % (*members,), _REST_LIMIT)


def _refuse_unusual(*members: Any) -> None:
    """Refuse what might be large, or be another thing when it is met again."""
    for member in members:
        if type(member) is str and len(member) <= KEY_LIMIT:
            continue
        if member is not None and not (type(member) is int and abs(member) <= SAFE_INTEGER):
            raise TypeError(member)


def _refuse_long(text: bytes, limit: int) -> bytes:
    if len(text) > limit:
        raise ValueError(f"more than {limit} bytes")
    return text


@lru_cache(maxsize=2048)
def _encode_name(name: str) -> bytes:
    """Remembered too: a new session or turn comes with the same names."""
    return encode(name)


def _encode_source(type: Any, *given: Any, foreign: bool) -> bytes:
    kind = mark_foreign(type) if foreign else type
    form = _PLACE + _REST
    source = form % (*map(encode_member, given), encode_member(_shorten(kind)))
    if len(source) <= SOURCE_LIMIT:
        return source
    return form % (*map(_encode_cut, given), encode_member(_shorten(kind, CUT_TYPE)))


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
