"""Any value as JSON that the strict parser takes: within limits, in ASCII, never raising.

What does not fit is replaced by an object whose first member begins with `$`: `$cut` for a text,
a container or a record that is too large (with length and, for texts and bytes, SHA-256), `$bytes`,
`$int`, `$error` and `$object` for what JSON does not know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, lru_cache
from itertools import islice
from typing import Any

from pydantic_core import SchemaValidator, core_schema, to_json

from amplifier_audit.format.describing import describe_error, safe_repr

SAFE_INTEGER = 2**53
RECORD_LIMIT = 64 * 1024
BODY_LIMIT = RECORD_LIMIT - 4096
KEY_LIMIT = 256
HEAD = 200
CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of a value is kept."""

    text: int
    members: int
    depth: int
    nodes: int


WIDE = Limits(text=8192, members=256, depth=16, nodes=2000)
NARROW = Limits(text=256, members=32, depth=8, nodes=150)


def encode(value: Any, limits: Limits = WIDE) -> bytes:
    """Printable ASCII, no line break, no lone surrogate, no NaN, no duplicate key."""
    try:
        text = _encoded_at_once(value) if limits is WIDE else None
        if text is None:
            text = to_json(Walk(limits).plain(value, 0), ensure_ascii=True)
    except Exception as error:  # noqa: BLE001 - a dict that another thread changes, memory, ...
        text = to_json({"$cut": "unreadable", "error": type(error).__name__}, ensure_ascii=True)
    return text.replace(b"\x7f", b"\\u007f") if b"\x7f" in text else text


def _encoded_at_once(value: Any) -> bytes | None:
    """The JSON of an object that needs no walk, which is nearly every record, or None.

    Few brackets cannot be nested deep, and a short text has few members: so all limits hold.
    """
    if type(value) is not dict or not _plain_object().isinstance_python(value):
        return None
    text = to_json(value, ensure_ascii=True)
    few = len(text) <= WIDE.text and text.count(b"{") + text.count(b"[") <= WIDE.depth
    return text if few and b"\\ud" not in text else None


@cache
def _plain_object() -> SchemaValidator:
    """Accepts dicts of what JSON and the strict parser take as it is, at any depth."""
    entry = core_schema.definition_reference_schema("entry")
    name = core_schema.str_schema(strict=True, max_length=KEY_LIMIT)
    safe: dict[str, Any] = {"ge": -SAFE_INTEGER, "le": SAFE_INTEGER, "strict": True}
    members = core_schema.dict_schema(name, entry, strict=True, max_length=WIDE.members)
    kinds = core_schema.union_schema(
        [
            core_schema.str_schema(strict=True, max_length=WIDE.text),
            core_schema.none_schema(),
            core_schema.bool_schema(strict=True),
            core_schema.int_schema(**safe),
            core_schema.float_schema(**safe, allow_inf_nan=False),
            members,
            core_schema.list_schema(entry, strict=True, max_length=WIDE.members),
        ],
        mode="left_to_right",
        ref="entry",
    )
    return SchemaValidator(core_schema.definitions_schema(members, [kinds]))


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
        return _short_text(value) if len(value) <= KEY_LIMIT else encode(_digested(value, HEAD))
    if value is None:
        return b"null"
    if type(value) is int and -SAFE_INTEGER <= value <= SAFE_INTEGER:
        return b"%d" % value
    return encode(value, NARROW)


@lru_cache(maxsize=2048)
def _short_text(value: str) -> bytes:
    return encode(value)


class Walk:
    """One pass over a value that stops where a limit is reached or a container meets itself."""

    __slots__ = ("_above", "_left", "_limits")

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.nodes
        self._above: set[int] = set()

    def plain(self, value: Any, depth: int) -> Any:
        """The value, made of dict, list, str, int, float, bool and None only."""
        kind = type(value)
        if kind is str:
            return (
                value if value.isascii() and len(value) <= self._limits.text else self._text(value)
            )
        if value is None or kind is bool:
            return value
        if kind is int:
            return value if -SAFE_INTEGER <= value <= SAFE_INTEGER else _large_integer(value)
        if kind is dict or kind is list or kind is tuple:
            return self._container(value, depth)
        return self._rare(value, depth)

    def _text(self, value: str) -> Any:
        if len(value) > self._limits.text:
            return _digested(value, HEAD)
        return _without_surrogates(value)

    def _container(self, value: Any, depth: int) -> Any:
        identity = id(value)
        if depth >= self._limits.depth or self._left <= 0 or identity in self._above:
            return {"$cut": self._refusal(identity, depth), "members": len(value)}
        self._left -= len(value)
        self._above.add(identity)
        if type(value) is dict or isinstance(value, Mapping):
            kept: Any = self._object(value, depth + 1)
        else:
            kept = self._array(value, depth + 1)
        self._above.discard(identity)
        return kept

    def _refusal(self, identity: int, depth: int) -> str:
        if identity in self._above:
            return "cycle"
        return "depth" if depth >= self._limits.depth else "nodes"

    def _object(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        plain, limit = self.plain, self._limits.text
        kept: dict[str, Any] = {}
        for key, entry in islice(value.items(), self._limits.members):
            name = key
            if type(key) is not str or not key.isascii() or len(key) > KEY_LIMIT or key in kept:
                name = _key(key, kept)
            # Nearly every entry is a short text or nothing: those are spared the call.
            if entry is None or (type(entry) is str and entry.isascii() and len(entry) <= limit):
                kept[name] = entry
            else:
                kept[name] = plain(entry, depth)
        if len(value) > self._limits.members:
            kept[_key("$cut", kept)] = {"members": len(value), "kept": self._limits.members}
        return kept

    def _array(self, value: Collection[Any], depth: int) -> list[Any]:
        plain, limit = self.plain, self._limits.members
        if len(value) <= limit:
            return [plain(entry, depth) for entry in value]
        kept = [plain(entry, depth) for entry in islice(value, limit)]
        return [*kept, {"$cut": "members", "members": len(value), "kept": limit}]

    def _rare(self, value: Any, depth: int) -> Any:
        """Everything that is not exactly of a JSON type; its methods may raise what they like."""
        try:
            return self._known(value, depth)
        except Exception as error:  # noqa: BLE001 - the trail outlives any object it describes
            return {"$object": type(value).__qualname__, "error": type(error).__name__}

    def _known(self, value: Any, depth: int) -> Any:
        if isinstance(value, Enum):
            return self.plain(value.value, depth)
        if isinstance(value, str | int | float):
            return self._scalar(value)
        if isinstance(value, Mapping | list | tuple | set | frozenset):
            return self._container(value, depth)
        if isinstance(value, bytes | bytearray | memoryview):
            return _digested_bytes(bytes(value))
        if isinstance(value, BaseException):
            return {"$error": self._text(describe_error(value))}
        if hasattr(type(value), "__pydantic_fields__"):
            return self._container(dict(vars(value)), depth)
        return {"$object": type(value).__qualname__, "repr": self._text(safe_repr(value))}

    def _scalar(self, value: str | int | float) -> Any:
        """Subclasses lose their class; NaN and the infinities become words."""
        if isinstance(value, str):
            return self._text(str.__str__(value))
        if isinstance(value, int):
            return self.plain(int.__int__(value), 0)
        number = float.__float__(value)
        finite = number - number == 0
        return number if finite else {"$float": float.__repr__(number)}


def _key(key: Any, taken: Mapping[str, Any]) -> str:
    text = _without_surrogates(str.__str__(key) if isinstance(key, str) else safe_repr(key))
    name = text if len(text) <= KEY_LIMIT else f"{text[:HEAD]}… sha256:{_sha256(text)}"
    number = 2
    while name in taken:
        name = f"{text[:HEAD]}#{number}"
        number += 1
    return name


def _large_integer(value: int) -> dict[str, Any]:
    # Python refuses to print integers of more than 4,300 digits; hexadecimal has no such limit.
    return (
        {"$int": hex(value)}
        if value.bit_length() <= 2048
        else {"$int": None, "bits": value.bit_length()}
    )


def _without_surrogates(value: str) -> str:
    return value.encode("utf-8", "backslashreplace").decode("utf-8")


def _digested(value: str, head: int) -> dict[str, Any]:
    return {
        "$cut": "text",
        "length": len(value),
        "sha256": _sha256(value),
        "head": _without_surrogates(value[:head]),
    }


def _digested_bytes(value: bytes) -> dict[str, Any]:
    return {
        "$bytes": value[:HEAD].hex(),
        "length": len(value),
        "sha256": hashlib.sha256(value).hexdigest(),
    }


def _sha256(value: str) -> str:
    """Of the UTF-8 form, piece by piece: a text of 100 MB is not copied as a whole."""
    digest = hashlib.sha256()
    for start in range(0, len(value), CHUNK):
        digest.update(value[start : start + CHUNK].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
