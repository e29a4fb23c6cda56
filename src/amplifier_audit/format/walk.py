"""Reduces any value to what JSON knows, within limits; it never trusts the value's own methods.

What does not fit is replaced by an object whose first member begins with `$`: `$cut` for a text or
a container that is too large (with length and, for texts and bytes, SHA-256), `$bytes`, `$int`,
`$float`, `$error` and `$object` for what JSON does not know.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from enum import Enum
from itertools import islice
from typing import Any

from amplifier_audit.format.limits import KEY_LIMIT, SAFE_INTEGER, Limits

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
        simplify, limit = self.simplify, self._limits.text
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
        simplify, limit = self.simplify, self._limits.members
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
    return (
        {"$int": hex(value)}
        if value.bit_length() <= 2048
        else {"$int": None, "bits": value.bit_length()}
    )


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
