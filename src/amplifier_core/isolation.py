"""Copies of event data: what a hook gets is never what the caller or the operation holds.

Containers and records (pydantic models, dataclasses) are copied, leaves are shared: a megabyte
string costs nothing, and an object of any other class keeps its identity, so what a hook does
inside such an object is not undone. Payloads made of plain containers have one copy that hooks
share and that is compared after each of them; what compares equal counts as unchanged. Everything
else (subclasses of containers, records, cycles, great depth) is copied for each hook, because a
comparison of it cannot be trusted or does not end.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from operator import is_
from types import NoneType
from typing import Any

from pydantic import BaseModel

_CONTAINERS = (dict, list, tuple, deque, set, bytearray)
_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)
_ATOMS = frozenset((str, int, float, bool, NoneType, bytes, complex, frozenset))


class NotPlain(Exception):
    """The payload holds something that only the slow copy understands."""


# Plain payloads: the fast way


def copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """A copy that may be compared with its original; raises NotPlain if there is no such copy."""
    result = value.copy()
    for key, item in value.items():
        if type(item) not in _ATOMS:
            result[key] = _copiers.get(type(item), _unknown)(item)
    return result


def _copy_list(value: list[Any]) -> list[Any]:
    if _ATOMS.issuperset(map(type, value)):
        return value.copy()
    return [_copiers.get(type(item), _unknown)(item) for item in value]


def _copy_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    result = tuple(_copy_list(list(value)))
    return value if all(map(is_, result, value)) else result


def _unknown(value: Any) -> Any:
    if isinstance(value, _CONTAINERS) or _is_record(value):
        raise NotPlain
    return value


def _is_record(value: Any) -> bool:
    kind = type(value)
    return isinstance(value, BaseModel) or hasattr(kind, "__dataclass_fields__")


_copiers: dict[type, Callable[[Any], Any]] = {
    dict: copy_dict,
    list: _copy_list,
    tuple: _copy_tuple,
    set: set.copy,
    bytearray: bytearray.copy,
}


def copy_plain(data: dict[str, Any]) -> dict[str, Any] | None:
    """A copy that may be compared with its original, or None if there is no such copy."""
    try:
        return copy_dict(data)
    except (NotPlain, RecursionError):
        return None


def detach(data: dict[str, Any]) -> dict[str, Any]:
    """A private copy, by the fast way if there is one."""
    plain = copy_plain(data)
    if plain is not None:
        return plain
    odd: dict[str, Any] = copy_any(data)
    return odd


# Any payload: the slow way


def copy_any(value: Any) -> Any:
    """A copy of any payload: subclasses, records, cycles and any depth included. Never raises."""
    made: dict[int, Any] = {}
    unfilled: list[tuple[Any, Any]] = []
    pending = [value]
    while pending:
        item = pending[-1]
        missing = [p for p in _parts(item) if type(p) not in _ATOMS and id(p) not in made]
        if id(item) in made:
            pending.pop()
        elif isinstance(item, tuple) and missing:
            pending.extend(missing)  # the one container that cannot be made first, filled later
        else:
            made[id(item)] = _made(item, made)
            unfilled.append((item, made[id(item)]))
            pending[-1:] = missing
    for source, target in unfilled:
        _fill(target, source, made)
    return made[id(value)]


def _parts(value: Any) -> list[Any]:
    """What a container holds that may need a copy, whatever a subclass makes of iteration."""
    if isinstance(value, dict):
        return list(dict.values(value))
    for base in _SEQUENCES:
        if isinstance(value, base):
            return list(base.__iter__(value))
    return []


def _made(value: Any, made: dict[int, Any]) -> Any:
    if isinstance(value, tuple):
        return _rebuilt_tuple(value, made)
    return _shallow(value) if isinstance(value, _CONTAINERS) else _copy_leaf(value)


def _copy_leaf(value: Any) -> Any:
    if not _is_record(value):
        return value
    try:
        return copy.deepcopy(value)
    except Exception:  # noqa: BLE001 - whatever its class raises, it has no copy
        return value


def _rebuilt_tuple(value: tuple[Any, ...], made: dict[int, Any]) -> tuple[Any, ...]:
    items = [made.get(id(part), part) for part in _parts(value)]
    if all(map(is_, items, _parts(value))):
        return value
    result: tuple[Any, ...] = tuple.__new__(type(value), items)
    return result


def _shallow(value: Any) -> Any:
    try:
        result = copy.copy(value)
    except Exception:  # noqa: BLE001 - whatever a foreign class raises, its base can copy
        result = value
    if result is not value and type(result) is type(value):
        return result
    if isinstance(value, dict):
        return dict.copy(value)
    base: Any = next(kind for kind in _CONTAINERS if isinstance(value, kind))
    return base(base.__iter__(value))


def _fill(target: Any, source: Any, made: dict[int, Any]) -> None:
    if isinstance(source, dict):
        for key, item in dict.items(source):
            dict.__setitem__(target, key, made.get(id(item), item))
    elif isinstance(source, list):
        list.__setitem__(target, slice(None), [made.get(id(p), p) for p in _parts(source)])
    elif isinstance(source, deque):
        deque.clear(target)
        deque.extend(target, [made.get(id(p), p) for p in _parts(source)])


# What a hook handed back


def adopt(returned: dict[str, Any], current: dict[str, Any]) -> dict[str, Any]:
    """What a hook handed back, detached from it; parts it left alone are the caller's own again."""
    result = {}
    for key, item in returned.items():
        try:
            result[key] = _own(item, current.get(key))
        except (NotPlain, RecursionError):
            result[key] = copy_any(item)
    return result


def _own(item: Any, mine: Any) -> Any:
    """`mine` if it is the same, else a copy of `item` in which the same parts are mine."""
    if is_same(item, mine):
        return mine
    if type(item) is dict:
        mine = mine if isinstance(mine, dict) else {}
        return {key: _own(part, dict.get(mine, key)) for key, part in item.items()}
    if type(item) is list:
        mine = mine if isinstance(mine, list) else []
        return [_own(part, mine[i] if i < len(mine) else None) for i, part in enumerate(item)]
    return item if type(item) in _ATOMS else _copiers.get(type(item), _unknown)(item)


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
        if not isinstance(a, _CONTAINERS):
            if not _same_leaf(a, b):
                return False
            continue
        met.add((id(a), id(b)))
        pairs = _paired(a, b)
        if pairs is None:
            return False
        pending.extend(pairs)
    return True


def _stands_for(a: Any, b: Any) -> bool:
    """A class that cannot be copied comes back from a hook as the builtin it is made of."""
    return type(a) in _CONTAINERS and isinstance(b, type(a))


def _same_leaf(a: Any, b: Any) -> bool:
    if type(a) in _ATOMS:
        return repr(a) == repr(b) if isinstance(a, float | complex) else bool(a == b)
    if not _is_record(a):
        return False
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - a record that cannot be compared counts as changed
        return False


def _paired(a: Any, b: Any) -> list[tuple[Any, Any]] | None:
    """What of two containers has yet to be compared; None if they differ already."""
    if isinstance(a, set):
        return [] if set(map(id, a)) == set(map(id, b)) else None
    if isinstance(a, bytearray):
        return [] if bytes(a) == bytes(b) else None
    ours, theirs = _parts(a), _parts(b)
    if isinstance(a, dict):
        ours += dict.keys(a)
        theirs += dict.keys(b)
    if len(ours) != len(theirs):
        return None
    return [pair for pair in zip(ours, theirs, strict=True) if pair[0] is not pair[1]]
