"""Nested data: the one walk over its parts, and copies of it, whatever its depth."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any

from pydantic import BaseModel

from amplifier_core.utils.frozen import FrozenDict, FrozenList

Rewrite = Callable[[str, Any], str]
"""Takes a text and the key it stands under (None if there is none)."""

_LEAVES = frozenset({str, int, float, bool, type(None), bytes, bytearray})
_PLAIN = frozenset({dict, list, FrozenDict, FrozenList})
_SIMPLE = frozenset({int, float, bool, type(None)}) | _PLAIN
_IMMUTABLE = (tuple, frozenset, set)


def is_container(value: Any) -> bool:
    """Whether the value has parts: mappings, lists, tuples, sets and pydantic models have."""
    if type(value) in _LEAVES:  # asking this first is five times as fast
        return False
    return isinstance(value, dict | list | tuple | set | frozenset | BaseModel | Mapping)


def iterate_parts(value: Any, limit: int | None = None) -> Iterator[tuple[Any, Any]]:
    """The value and every part of it, each with the key it stands under, as they are written.

    What stands in a list stands under the list's key. A container that contains itself is entered
    once under each key. ValueError when there are more than `limit` parts.
    """
    pending: list[tuple[Any, Any]] = [(None, value)]
    entered: set[tuple[int, Any]] = set()
    count = 0
    while pending:
        key, part = pending.pop()
        count += 1
        if limit is not None and count > limit:
            raise ValueError(f"it has over {limit:,} parts, too many to be looked through")
        yield key, part
        if is_container(part) and (id(part), key) not in entered:
            entered.add((id(part), key))
            pending += reversed(_entries(part, key))


def iterate_paths(
    value: Any, enter: Callable[[Any], bool] = lambda part: True, *, levels: int = 1_000
) -> Iterator[tuple[str, Any]]:
    """The value and every part of it, each with its path, such as `tool_input.edits[0].text`.

    Dicts and lists are gone through where `enter` says so. RecursionError for what is nested
    deeper than `levels`.
    """
    pending: list[tuple[str, Any, int]] = [("", value, 0)]
    while pending:
        path, part, depth = pending.pop()
        if depth > levels:
            raise RecursionError(f"nested more than {levels} levels deep")
        yield path, part
        if isinstance(part, dict | list) and enter(part):
            inner = _list_inner(path, part)
            pending += [(name, one, depth + 1) for name, one in reversed(inner)]


def _list_inner(path: str, part: dict[Any, Any] | list[Any]) -> list[tuple[str, Any]]:
    if isinstance(part, list):
        return [(f"{path}[{place}]", one) for place, one in enumerate(part)]
    return [(f"{path}.{name}" if path else str(name), one) for name, one in part.items()]


def iterate_texts(value: Any, limit: int | None = None) -> Iterator[str]:
    """Every text in the value; keys are not among them."""
    return (part for _, part in iterate_parts(value, limit) if isinstance(part, str))


def convert(
    value: Any,
    leaf: Callable[[Any], Any],
    *,
    key: Callable[[Any], Any],
    max_depth: int,
    at_limit: Callable[[], Any],
    max_parts: int | None = None,
) -> Any:
    """The value as plain dicts and lists, with converted keys and leaves.

    `at_limit` gives what stands for a part that lies too deep or comes after too many others.
    """
    left = max_parts

    def visit(part: Any, depth: int) -> Any:
        nonlocal left
        if left is not None:
            left -= 1
        if type(part) in _LEAVES:
            return leaf(part)
        if depth >= max_depth or (left is not None and left < 0):
            return at_limit()
        if isinstance(part, BaseModel) or not is_container(part):
            return leaf(part)
        # Through copies: another thread may be changing the original.
        if isinstance(part, Mapping):
            return {key(name): visit(one, depth + 1) for name, one in list(part.items())}
        return [visit(one, depth + 1) for one in list(part)]

    return visit(value, 0)


class KnownTexts(set[tuple[str, Any]]):
    """Texts that a rewriting left alone, each with its key: short ones, and not too many."""

    def add(self, known: tuple[str, Any]) -> None:
        """Remember one; when there are too many, forget all others."""
        if len(known[0]) <= 200:
            if len(self) >= 1_000:
                self.clear()
            super().add(known)


def rewrite(
    value: Any, leaf: Rewrite, *, keys: bool = True, known: KnownTexts | None = None
) -> Any:
    """A copy with the texts that `leaf` returns, keys too; the same object if none changed.

    Goes without recursion, so no depth stops it; a list or dict may contain itself. Objects other
    than texts, bytes, mappings, lists, tuples, sets and pydantic models are left alone. A `leaf`
    that always says the same of a text is not asked again about what is `known`.
    """
    if _stays(value, leaf, keys, known):
        return value
    walk = _Rewriting(leaf, keys)
    result = walk.run(value)
    if walk.changed:
        return result
    return value


def _stays(value: Any, leaf: Rewrite, keys: bool, known: KnownTexts | None) -> bool:
    """Whether plain data stays as it is, which most does; False also if only the walk can tell."""
    texts = _list_texts(value, keys)
    if texts is None:
        return False
    # Each text once: in a record, most come several times.
    for text, key in set(texts).difference(known or ()):
        if leaf(text, key) != text:
            return False
        if known is not None:
            known.add((text, key))
    return True


def _list_texts(value: Any, keys: bool) -> list[tuple[str, Any]] | None:
    """The texts of plain data, each with its key; None if it is not plain."""
    stack: list[Iterable[tuple[Any, Any]]] = [[(None, value)]]
    entered: set[int] = set()
    texts: list[tuple[str, Any]] = []
    while stack:
        for key, part in stack.pop():
            if keys and key is not None:
                if key.__class__ is not str:
                    return None
                texts.append((key, None))
            if part.__class__ is str:
                texts.append((part, key))
            elif part.__class__ in _PLAIN and id(part) not in entered:
                entered.add(id(part))
                # Through copies: another thread may be changing the original.
                entries = part.items() if isinstance(part, dict) else zip(repeat(None), part)
                stack.append(list(entries))
            elif part.__class__ not in _SIMPLE:
                return None
    return texts


class _Rewriting:
    """One pass. What may contain itself is made when met, and filled when its parts are done."""

    def __init__(self, leaf: Rewrite, keys: bool) -> None:
        self._leaf = leaf
        self._keys = keys
        self._made: dict[int, Any] = {}
        # By id, so nothing that was met may go: another object could get its id.
        self._met: list[list[tuple[Any, Any]]] = []
        self.changed = False

    def run(self, root: Any) -> Any:
        stack: list[tuple[Any, list[tuple[Any, Any]] | None]] = [(root, None)]
        while stack:
            value, entries = stack.pop()
            if entries is not None:
                self._finish(value, entries)
            elif is_container(value) and id(value) not in self._made:
                self._begin(value)
                entries = _entries(value, None)
                self._met.append(entries)
                stack.append((value, entries))
                stack += [(part, None) for _, part in entries if is_container(part)]
                stack += [(key, None) for key, _ in entries if is_container(key)]
        return self._copy(root, None)

    def _begin(self, value: Any) -> None:
        if isinstance(value, Mapping):
            self._made[id(value)] = {}
        elif isinstance(value, list):
            self._made[id(value)] = []
        elif isinstance(value, BaseModel):
            self._made[id(value)] = value.model_copy()

    def _finish(self, value: Any, entries: list[tuple[Any, Any]]) -> None:
        if isinstance(value, Mapping):
            self._fill_dict(self._made[id(value)], entries)
        elif isinstance(value, list):
            self._made[id(value)] += [self._copy(part, None) for _, part in entries]
        elif isinstance(value, BaseModel):
            self._fill_model(self._made[id(value)], entries)
        else:
            self._made[id(value)] = self._build(value, entries)

    def _fill_dict(self, made: dict[Any, Any], entries: list[tuple[Any, Any]]) -> None:
        for key, part in entries:
            name = _choose_unused(self._copy(key, None), made) if self._keys else key
            made[name] = self._copy(part, key)

    def _fill_model(self, made: Any, entries: list[tuple[Any, Any]]) -> None:
        extra = made.model_extra or {}
        for name, part in entries:
            # Not by attribute: that would fail on a frozen model, or validate again.
            (made.__dict__ if name in made.__dict__ else extra)[name] = self._copy(part, name)

    def _build(self, value: Any, entries: list[tuple[Any, Any]]) -> Any:
        parts = [self._copy(part, None) for _, part in entries]
        if hasattr(value, "_fields"):
            return type(value)(*parts)
        return next(kind for kind in _IMMUTABLE if isinstance(value, kind))(parts)

    def _copy(self, value: Any, key: Any) -> Any:
        if isinstance(value, str):
            return self._rewrite_text(value, key)
        if isinstance(value, bytes | bytearray):
            text = value.decode(errors="surrogateescape")
            return type(value)(self._rewrite_text(text, key).encode(errors="surrogateescape"))
        if is_container(value):
            return self._made[id(value)]
        return value

    def _rewrite_text(self, text: str, key: Any) -> str:
        new = self._leaf(text, key)
        self.changed = self.changed or new != text
        return new


def _entries(value: Any, key: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, BaseModel):
        return _fields(value)
    return [(key, part) for part in value]


def _fields(value: BaseModel) -> list[tuple[str, Any]]:
    return [*value.__dict__.items(), *(value.model_extra or {}).items()]


def _choose_unused(key: Any, made: dict[Any, Any]) -> Any:
    """Two keys may become one; the second is kept under a number."""
    if key not in made or not isinstance(key, str):
        return key
    number = 2
    while f"{key} ({number})" in made:
        number += 1
    return f"{key} ({number})"
