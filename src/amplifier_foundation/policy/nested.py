"""Nested data with every text in it rewritten, whatever its depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel

Rewrite = Callable[[str, Any], str]
"""Takes a text and the key it stands under (None if there is none)."""


def rewrite(value: Any, leaf: Rewrite) -> Any:
    """A copy with the texts that `leaf` returns, keys too; the same object if none changed.

    Goes without recursion, so no depth stops it; a list or dict may contain itself. Objects other
    than texts, bytes, dicts, lists, tuples, sets and pydantic models are left alone.
    """
    walk = _Walk(leaf)
    result = walk.rewritten(value)
    return result if walk.changed else value


class _Walk:
    """One pass. Dicts and lists are made empty when met and filled when their parts are done."""

    def __init__(self, leaf: Rewrite) -> None:
        self._leaf = leaf
        self._made: dict[int, Any] = {}
        self.changed = False

    def rewritten(self, root: Any) -> Any:
        stack = [(root, False)]
        while stack:
            value, parts_done = stack.pop()
            if parts_done:
                self._finish(value)
            elif _is_container(value) and id(value) not in self._made:
                self._begin(value)
                stack.append((value, True))
                stack += [(part, False) for part in _parts(value) if _is_container(part)]
        return self._new(root, None)

    def _begin(self, value: Any) -> None:
        if isinstance(value, dict):
            self._made[id(value)] = {}
        elif isinstance(value, list):
            self._made[id(value)] = []

    def _finish(self, value: Any) -> None:
        if isinstance(value, dict):
            self._fill(self._made[id(value)], value)
        elif isinstance(value, list):
            self._made[id(value)] += [self._new(part, None) for part in value]
        else:
            self._made[id(value)] = self._built(value)

    def _fill(self, made: dict[Any, Any], value: dict[Any, Any]) -> None:
        for key, part in value.items():
            made[_unused(self._new(key, None), made)] = self._new(part, key)

    def _built(self, value: Any) -> Any:
        if isinstance(value, BaseModel):
            parts = {name: self._new(part, name) for name, part in _fields(value)}
            return value.model_copy(update=parts)
        parts_made = [self._new(part, None) for part in value]
        if hasattr(value, "_fields"):
            return type(value)(*parts_made)
        return next(kind for kind in _IMMUTABLE if isinstance(value, kind))(parts_made)

    def _new(self, value: Any, key: Any) -> Any:
        if isinstance(value, str):
            return self._text(value, key)
        if isinstance(value, bytes | bytearray):
            text = value.decode(errors="surrogateescape")
            return type(value)(self._text(text, key).encode(errors="surrogateescape"))
        if not _is_container(value):
            return value
        if id(value) not in self._made:
            raise ValueError(f"a {type(value).__name__} contains itself, so it cannot be copied")
        return self._made[id(value)]

    def _text(self, text: str, key: Any) -> str:
        new = self._leaf(text, key)
        self.changed = self.changed or new != text
        return new


_IMMUTABLE = (tuple, frozenset, set)


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list | tuple | set | frozenset | BaseModel)


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value
        yield from value.values()
    elif isinstance(value, BaseModel):
        yield from (part for _, part in _fields(value))
    else:
        yield from value


def _fields(value: BaseModel) -> list[tuple[str, Any]]:
    return [*value.__dict__.items(), *(value.model_extra or {}).items()]


def _unused(key: Any, made: dict[Any, Any]) -> Any:
    """Two keys may become one; the second is kept under a number."""
    if key not in made or not isinstance(key, str):
        return key
    number = 2
    while f"{key} ({number})" in made:
        number += 1
    return f"{key} ({number})"
