"""Finds keys that are too long in JSON, without reading it: from one quote to the next far away.

A look at every key costs more than all the rest of a record, and nearly no body has a long one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from enum import Enum
from functools import lru_cache, partial
from gc import get_referents
from itertools import islice
from typing import Any

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.own_records import mark_foreign
from amplifier_audit.strict_json import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    SAFE_INTEGER,
    SOURCE_LIMIT,
    WIDE,
    Limits,
    read_json,
)

# A key that is too long has so many bytes between its quotes, or more.
_SPAN = KEY_LIMIT + 1


def may_have_long_key(text: bytes) -> bool:
    """Whether a key may be over the limit; False is certain. Takes many bodies with one call."""
    if len(text) <= _SPAN:
        return False
    # One letter is found much faster than two, and often there is none.
    if b"\\" in text and b'\\"' in text:
        # Of the same length, but with no quote that is not the end of a text.
        text = text.replace(b"\\\\", b"..").replace(b'\\"', b"..")
    start = 0
    last = len(text) - _SPAN
    find_before = text.rfind
    while start <= last:
        quote = find_before(b'"', start, start + _SPAN)
        if quote < 0:
            quote = text.find(b'"', start + _SPAN)
            if quote < 0:
                return False
            if text[quote + 1 : quote + 2] == b":":
                return True
        start = quote + 1
    return False


# What a number follows in JSON without spaces becomes a colon, so does its sign; digits become 0.
_KIND_OF = dict.fromkeys(b"0123456789", ord("0")) | dict.fromkeys(b":,[-", ord(":"))
_KINDS = bytes(_KIND_OF.get(byte, ord(" ")) for byte in range(256))
# An integer beyond 2^53 has at least so many digits.
_LONG = b":" + b"0" * 16


def may_have_long_number(text: bytes) -> bool:
    """Whether there may be such an integer; False is certain. Takes many objects with one call."""
    return _LONG in text.translate(_KINDS)


_MEMBERS = WIDE.members
_NODES = WIDE.nodes
_LEVELS = range(WIDE.depth - 1)


def is_plain(value: dict[Any, Any]) -> bool:
    """Whether a dict holds only what JSON knows, and not much.

    Which numbers it holds, and how long its texts and keys are, is easier to tell from the JSON.
    """
    nodes = size = len(value)
    # What containers refer to: the entries of lists, the values of dicts, and the keys as well if
    # one of them is not exactly a str. So keys need no look of their own: the count tells.
    level: list[Any] = get_referents(value)
    for _ in _LEVELS:
        if len(level) != size or size > _MEMBERS:
            return False
        size = 0
        for entry in level:
            kind = type(entry)
            if kind is str:
                continue
            if kind is dict or kind is list:
                size += len(entry)
            elif entry is not None and kind is not int and kind is not float and kind is not bool:
                return False
        if not size:
            return nodes <= _NODES
        nodes += size
        # Only of leaves, dicts and lists: others may refer to anything.
        level = get_referents(*level)
    return False


HEAD = 200
CHUNK = 1 << 20
_CONTAINERS = frozenset({dict, list, tuple})


class Walk:
    """One pass over a value, which stops at a limit or where a container contains itself."""

    __slots__ = ("_above", "_left", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.nodes
        self._above: set[int] = set()

    def simplify(self, value: Any, depth: int = 0) -> Any:
        """The value, made of dict, list, str, int, float, bool and None only."""
        kind = type(value)
        if kind is str:
            usual = value.isascii() and len(value) <= self._limits.text
            return value if usual else self._simplify_text(value)
        if value is None or kind is bool:
            return value
        if kind is int:
            safe = -SAFE_INTEGER <= value <= SAFE_INTEGER
            return value if safe else _describe_large_integer(value)
        if kind in _CONTAINERS:
            return self._simplify_container(value, depth)
        return self._simplify_unusual(value, depth)

    def _simplify_text(self, value: str) -> Any:
        return digest_text(value) if len(value) > self._limits.text else escape_surrogates(value)

    def _simplify_container(self, value: Any, depth: int) -> Any:
        identity = id(value)
        if depth >= self._limits.depth or self._left <= 0 or identity in self._above:
            return {"$cut": self._name_limit(identity, depth), "members": len(value)}
        self._left -= len(value)
        self._above.add(identity)
        if type(value) is dict or isinstance(value, Mapping):
            kept: Any = self._simplify_object(value, depth + 1)
        else:
            kept = self._simplify_array(value, depth + 1)
        self._above.discard(identity)
        return kept

    def _name_limit(self, identity: int, depth: int) -> str:
        if identity in self._above:
            return "cycle"
        return "depth" if depth >= self._limits.depth else "nodes"

    def _simplify_object(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        kept = self._simplify_members(value, depth)
        if len(value) > self._limits.members:
            kept[_make_key("$cut", kept)] = {"members": len(value), "kept": self._limits.members}
        return kept

    def _simplify_members(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        simplify = self.simplify
        limit = self._limits.text
        kept: dict[str, Any] = {}
        for key, entry in islice(value.items(), self._limits.members):
            name = key
            if type(key) is not str or not key.isascii() or len(key) > KEY_LIMIT or key in kept:
                name = _make_key(key, kept)
            # Nearly every entry is a short text or nothing: those are spared the call.
            if entry is None or (type(entry) is str and entry.isascii() and len(entry) <= limit):
                kept[name] = entry
            else:
                kept[name] = simplify(entry, depth)
        return kept

    def _simplify_array(self, value: Collection[Any], depth: int) -> list[Any]:
        simplify = self.simplify
        limit = self._limits.members
        if len(value) <= limit:
            return [simplify(entry, depth) for entry in value]
        kept = [simplify(entry, depth) for entry in islice(value, limit)]
        return [*kept, {"$cut": "members", "members": len(value), "kept": limit}]

    def _simplify_unusual(self, value: Any, depth: int) -> Any:
        """Everything that is not exactly of a JSON type; its methods may raise what they like."""
        try:
            return self._simplify_known(value, depth)
        except Exception as error:  # noqa: BLE001 - the trail outlives any object it describes
            return {"$object": type(value).__qualname__, "error": type(error).__name__}

    def _simplify_known(self, value: Any, depth: int) -> Any:
        if isinstance(value, Enum):
            return self.simplify(value.value, depth)
        if isinstance(value, str | int | float):
            return self._simplify_scalar(value)
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            return self._simplify_container(value, depth)
        if isinstance(value, bytes | bytearray | memoryview):
            return _digest_bytes(bytes(value))
        if isinstance(value, BaseException):
            return {"$error": self._simplify_text(describe_error(value))}
        # A pydantic model, told by this attribute: the trail does not import pydantic.
        if hasattr(type(value), "__pydantic_fields__"):
            return self._simplify_container(dict(vars(value)), depth)
        return {"$object": type(value).__qualname__, "repr": self._simplify_text(safe_repr(value))}

    def _simplify_scalar(self, value: str | int | float) -> Any:
        """Subclasses lose their class; NaN and the infinities become words."""
        if isinstance(value, str):
            return self._simplify_text(str.__str__(value))
        if isinstance(value, int):
            return self.simplify(int.__int__(value))
        number = float.__float__(value)
        # NaN and the infinities are the numbers that do not cancel themselves out.
        finite = number - number == 0
        return number if finite else {"$float": float.__repr__(number)}


def safe_repr(value: Any) -> str:
    """`repr` of values that may refuse it."""
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 - a repr may raise anything
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def describe_error(error: BaseException) -> str:
    """`Type: message` of exceptions that may refuse to be printed."""
    try:
        message = str(error)
    except Exception:  # noqa: BLE001 - a str may raise anything
        message = ""
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def _make_key(key: Any, taken: Mapping[str, Any]) -> str:
    text = escape_surrogates(str.__str__(key) if isinstance(key, str) else safe_repr(key))
    name = text if len(text) <= KEY_LIMIT else f"{text[:HEAD]}… sha256:{_hash_text(text)}"
    number = 2
    while name in taken:
        name = f"{text[:HEAD]}#{number}"
        number += 1
    return name


def _describe_large_integer(value: int) -> dict[str, Any]:
    # Python refuses to print integers of more than 4,300 digits; hexadecimal has no such limit.
    if value.bit_length() <= 2048:
        return {"$int": hex(value)}
    return {"$int": None, "bits": value.bit_length()}


def escape_surrogates(value: str) -> str:
    """The text with lone surrogates spelled out; the strict parser refuses them."""
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def digest_text(value: str) -> dict[str, Any]:
    """What stands for a text that is too long."""
    return {
        "$cut": "text",
        "length": len(value),
        "sha256": _hash_text(value),
        "head": escape_surrogates(value[:HEAD]),
    }


def _digest_bytes(value: bytes) -> dict[str, Any]:
    return {
        "$bytes": value[:HEAD].hex(),
        "length": len(value),
        "sha256": hashlib.sha256(value).hexdigest(),
    }


def _hash_text(value: str) -> str:
    """Of the UTF-8 form, piece by piece: a text of 100 MB is not copied as a whole."""
    digest = hashlib.sha256()
    for start in range(0, len(value), CHUNK):
        digest.update(value[start : start + CHUNK].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


CUT_TYPE = 40
# Python reads no integer of more than 4,300 digits; whoever looks at the numbers later needs it to.
LATER_LIMIT = 4000
_PLACE = b'"session":%b,"turn":%b'
_REST = b',"event":%b,"hook":%b,"registration":%b,"type":%b'
# Together within SOURCE_LIMIT.
_PLACE_LIMIT = 1024
_REST_LIMIT = SOURCE_LIMIT - 1024


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
