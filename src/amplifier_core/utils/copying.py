"""Copies of nested data of any class and depth, and whether two of them are the same."""

from __future__ import annotations

import copy
from collections import deque
from operator import is_
from types import NoneType
from typing import Any

from pydantic import BaseModel

CONTAINERS = (dict, list, tuple, deque, set, bytearray)
ATOMS = frozenset((str, int, float, bool, NoneType, bytes, complex, frozenset))
"""What has no parts that anybody could change; asked by exact type."""

_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)


def is_record(value: Any) -> bool:
    """Whether the value is a pydantic model or a dataclass."""
    kind = type(value)
    return isinstance(value, BaseModel) or hasattr(kind, "__dataclass_fields__")


def copy_any(value: Any) -> Any:
    """A copy of any payload: subclasses, records, cycles and any depth included. Never raises."""
    made: dict[int, Any] = {}
    unfilled: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        item = pending[-1]
        missing = [p for p in _list_parts(item) if type(p) not in ATOMS and id(p) not in made]
        if id(item) in made:
            pending.pop()
        elif isinstance(item, tuple) and missing:
            pending.extend(missing)  # the one container that cannot be made first, filled later
        else:
            made[id(item)] = _make(item, made)
            unfilled.append((item, made[id(item)]))
            pending[-1:] = missing
    for source, target in unfilled:
        _fill(target, source, made)
    return made[id(value)]


def _list_parts(value: Any) -> list[Any]:
    """What a container holds that may need a copy, whatever a subclass makes of iteration."""
    if isinstance(value, dict):
        return list(dict.values(value))
    for base in _SEQUENCES:
        if isinstance(value, base):
            return list(base.__iter__(value))
    return []


def _make(value: Any, made: dict[int, Any]) -> Any:
    if isinstance(value, tuple):
        return _rebuild_tuple(value, made)
    return _copy_shallow(value) if isinstance(value, CONTAINERS) else _copy_leaf(value)


def _copy_leaf(value: Any) -> Any:
    if not is_record(value):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - whatever its class raises, it has no copy
        return value


def _rebuild_tuple(value: tuple[Any, ...], made: dict[int, Any]) -> tuple[Any, ...]:
    items = [made.get(id(part), part) for part in _list_parts(value)]
    if all(map(is_, items, _list_parts(value))):
        return value
    result: tuple[Any, ...] = tuple.__new__(type(value), items)
    return result


def _copy_shallow(value: Any) -> Any:
    try:
        result = copy.copy(value)
    except Exception:  # noqa: BLE001 - whatever a foreign class raises, its base can copy
        result = value
    if result is not value and type(result) is type(value):
        return result
    if isinstance(value, dict):
        return dict.copy(value)
    base: Any = next(kind for kind in CONTAINERS if isinstance(value, kind))
    return base(base.__iter__(value))


def _fill(target: Any, source: Any, made: dict[int, Any]) -> None:
    if isinstance(source, dict):
        for key, item in dict.items(source):
            dict.__setitem__(target, key, made.get(id(item), item))
    elif isinstance(source, list):
        list.__setitem__(target, slice(None), [made.get(id(p), p) for p in _list_parts(source)])
    elif isinstance(source, deque):
        deque.clear(target)
        deque.extend(target, [made.get(id(p), p) for p in _list_parts(source)])


def is_same(one: Any, other: Any) -> bool:
    """Whether two values have the same structure, types and leaves; ends on cycles too."""
    pending = [(one, other)]
    met: set[tuple[int, int]] = set()
    while pending:
        a, b = pending.pop()
        if a is b or (id(a), id(b)) in met:
            continue
        if type(a) is not type(b) and not _stands_for(a, b):
            return False
        if not isinstance(a, CONTAINERS):
            if not _is_same_leaf(a, b):
                return False
            continue
        met.add((id(a), id(b)))
        pairs = _pair_parts(a, b)
        if pairs is None:
            return False
        pending.extend(pairs)
    return True


def _stands_for(a: Any, b: Any) -> bool:
    """A class that cannot be copied comes back from a hook as the builtin it is made of."""
    return type(a) in CONTAINERS and isinstance(b, type(a))


def _is_same_leaf(a: Any, b: Any) -> bool:
    if type(a) in ATOMS:
        return repr(a) == repr(b) if isinstance(a, float | complex) else bool(a == b)
    if not is_record(a):
        return False
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - a record that cannot be compared counts as changed
        return False


def _pair_parts(a: Any, b: Any) -> list[tuple[Any, Any]] | None:
    """What of two containers has yet to be compared; None if they differ already."""
    if isinstance(a, set):
        return [] if set(map(id, a)) == set(map(id, b)) else None
    if isinstance(a, bytearray):
        return [] if bytes(a) == bytes(b) else None
    ours, theirs = _list_parts(a), _list_parts(b)
    if isinstance(a, dict):
        ours += dict.keys(a)
        theirs += dict.keys(b)
    if len(ours) != len(theirs):
        return None
    return [pair for pair in zip(ours, theirs, strict=True) if pair[0] is not pair[1]]


def is_equal(one: Any, other: Any) -> bool:
    """Whether they compare equal; False for what refuses to be compared."""
    try:
        return bool(one == other)
    except Exception:  # noqa: BLE001 - a hook may put anything into an event
        return False
