"""Copies of nested data of any class and depth, and whether two of them are the same."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Collection
from itertools import chain, repeat
from operator import is_
from types import NoneType
from typing import Any

from pydantic import BaseModel

from amplifier_core.utils.frozen import FrozenDict, FrozenList
from amplifier_core.utils.text import safe_repr

_CONTAINERS = (dict, list, tuple, deque, set, bytearray)
_READ_ONLY = frozenset((FrozenDict, FrozenList))
ATOMS = _READ_ONLY | {str, int, float, bool, NoneType, bytes, complex, frozenset}
"""What has no parts that anybody could change; asked by exact type."""
VALUES = frozenset((str, int, bool, NoneType, bytes))
"""Of these, two that are equal and of one type cannot be told apart."""

_SEQUENCES: tuple[Any, ...] = (list, tuple, deque)


def is_record(value: Any) -> bool:
    """Whether the value is a pydantic model or a dataclass."""
    kind = type(value)
    return isinstance(value, BaseModel) or hasattr(kind, "__dataclass_fields__")


# Plain payloads: the fast way


class NotPlain(Exception):
    """The payload holds something that only the slow copy understands."""


def copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """A copy that may be compared with its original; raises NotPlain if there is no such copy."""
    result = value.copy()
    for key, item in value.items():
        if type(item) not in ATOMS:
            if type(item) is dict:
                result[key] = copy_dict(item)
            else:
                result[key] = _copiers.get(type(item), _keep)(item)
    return result


def _copy_list(value: list[Any]) -> list[Any]:
    if ATOMS.issuperset(map(type, value)):
        return value.copy()
    return [copy_part(item) for item in value]


def _copy_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    result = tuple(_copy_list(list(value)))
    if all(map(is_, result, value)):
        return value
    return result


def copy_part(value: Any) -> Any:
    """The same of one value; what cannot be changed, or has no parts, is its own copy."""
    if type(value) in ATOMS:
        return value
    return _copiers.get(type(value), _keep)(value)


def _keep(value: Any) -> Any:
    if isinstance(value, _CONTAINERS) or is_record(value):
        raise NotPlain
    return value


_copiers: dict[type, Callable[[Any], Any]] = {
    dict: copy_dict,
    list: _copy_list,
    tuple: _copy_tuple,
    set: set.copy,
    bytearray: bytearray.copy,
}


def freeze(value: Any) -> Any:
    """A read-only copy of plain data; raises NotPlain if it holds anything but that."""
    kind = type(value)
    if kind is dict:
        return FrozenDict((key, freeze(item)) for key, item in value.items())
    if kind is list:
        return FrozenList(map(freeze, value))
    if kind in VALUES or kind is float or kind in _READ_ONLY:
        return value
    raise NotPlain


# Payloads of any kind


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
    if isinstance(value, _CONTAINERS):
        return _copy_shallow(value)
    return _copy_leaf(value)


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
    base: Any = next(kind for kind in _CONTAINERS if isinstance(value, kind))
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


# What a hook handed back


def adopt(
    returned: dict[str, Any], current: dict[str, Any], pinned: Collection[str] = ()
) -> dict[str, Any]:
    """What a hook handed back, detached from it; parts it left alone are the caller's own again.

    What is pinned stays as it was, or missing.
    """
    result: dict[str, Any] = {}
    for key, item in returned.items():
        if key in current:
            result[key] = current[key] if key in pinned else _detach(item, current[key])
        elif not _is_text(key):
            # Validation lets no such key through, but a result can be made past it.
            raise TypeError(f"a field's name is a text, not {safe_repr(key)}")
        elif key not in pinned:
            result[key] = _detach(item, None)
    for key in pinned:
        if key in current:
            result[key] = current[key]
    return result


def _is_text(key: Any) -> bool:
    """Whether it is a text that is found like any other, such as a member of a StrEnum."""
    kind: Any = type(key)
    is_found = kind.__hash__ is str.__hash__ and kind.__eq__ is str.__eq__
    return isinstance(key, str) and is_found


def _detach(item: Any, mine: Any) -> Any:
    try:
        return take_over(item, mine)
    except (NotPlain, RecursionError):
        if is_same(item, mine):
            return mine
        return copy_any(item)


def take_over(item: Any, mine: Any) -> Any:
    """`mine` if it is the same, else a copy of `item` in which the same parts are mine."""
    if type(item) in VALUES:
        return item
    if is_alike(item, mine):
        return mine
    copied: Any
    if type(item) is dict:
        old = mine if isinstance(mine, dict) else {}
        copied = {key: take_over(part, dict.get(old, key)) for key, part in item.items()}
    elif type(item) is list:
        olds = chain(list.__iter__(mine) if isinstance(mine, list) else (), repeat(None))
        copied = [take_over(part, old) for part, old in zip(item, olds)]  # noqa: B905 - one is endless
    else:
        if is_same(item, mine):
            return mine
        return copy_part(item)
    # Most that differ are not even equal, which is found out sooner.
    is_candidate = type(mine) is not type(item) or is_equal(copied, mine)
    if is_candidate and is_same(copied, mine):
        return mine
    return copied


# Whether two are the same


def is_alike(one: Any, other: Any) -> bool:
    """Whether they are one value, or dicts of the very same values: found out soonest."""
    if type(one) is not dict or type(other) is not dict or len(one) != len(other):
        return one is other
    return all(a is b and one[a] is other[b] for a, b in zip(one, other, strict=True))


def is_same(one: Any, other: Any) -> bool:
    """Whether two values have the same structure, types and leaves; ends on cycles too."""
    if is_alike(one, other):
        return True
    pending = [(one, other)]
    met: set[tuple[int, int]] = set()
    while pending:
        a, b = pending.pop()
        if a is b or (id(a), id(b)) in met:
            continue
        if type(a) is not type(b) and not _stands_for(a, b):
            return False
        if not isinstance(a, _CONTAINERS):
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
    return type(a) in _CONTAINERS and isinstance(b, type(a))


def _is_same_leaf(a: Any, b: Any) -> bool:
    if type(a) in ATOMS:
        if isinstance(a, float | complex):
            return repr(a) == repr(b)
        return bool(a == b)
    if not is_record(a):
        return False
    try:
        return bool(a == b)
    except Exception:  # noqa: BLE001 - a record that cannot be compared counts as changed
        return False


def _pair_parts(a: Any, b: Any) -> list[tuple[Any, Any]] | None:
    """What of two containers has yet to be compared; None if they differ already."""
    if isinstance(a, set):
        if set(map(id, a)) == set(map(id, b)):
            return []
        return None
    if isinstance(a, bytearray):
        if bytes(a) == bytes(b):
            return []
        return None
    ours = _list_parts(a)
    theirs = _list_parts(b)
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


def copy_plain(data: dict[str, Any]) -> dict[str, Any] | None:
    """A copy that may be compared with its original, or None if there is no such copy."""
    try:
        return copy_dict(data)
    except (NotPlain, RecursionError):
        return None


def detach(data: dict[str, Any]) -> dict[str, Any]:
    """A private copy, by the fast way if there is one."""
    try:
        return copy_dict(data)
    except (NotPlain, RecursionError):
        odd: dict[str, Any] = copy_any(data)
        return odd
