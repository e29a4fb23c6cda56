"""Copies of event data: what a hook gets is never what the caller or the operation holds.

Containers are copied, leaves are shared: a megabyte string costs nothing, and an object that is
no container keeps its identity. Payloads made of plain containers have one copy that hooks share
and that is compared after each of them; everything else (subclasses of containers, cycles, great
depth) is copied for each hook, because a comparison of it cannot be trusted or does not end.
"""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable, Iterable
from operator import is_
from types import NoneType
from typing import Any

_CONTAINERS = (dict, list, set, tuple, frozenset, bytearray, deque)


class NotPlain(Exception):
    """The payload holds something that only the slow copy understands."""


def _unknown(value: Any) -> Any:
    if isinstance(value, _CONTAINERS):
        raise NotPlain
    return value


def _copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
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


def _copy(item: Any) -> Any:
    return _copiers.get(type(item), _unknown)(item)


_ATOMS = frozenset((str, int, float, bool, NoneType, bytes, complex, frozenset))
_copiers: dict[type, Callable[[Any], Any]] = {
    dict: _copy_dict,
    list: _copy_list,
    tuple: _copy_tuple,
    set: set.copy,
    bytearray: bytearray.copy,
    frozenset: lambda value: value,
}


def copy_plain(data: dict[str, Any]) -> dict[str, Any] | None:
    """A copy that may be compared with its original, or None if there is no such copy."""
    try:
        return _copy_dict(data)
    except (NotPlain, RecursionError):
        return None


def copy_any(value: Any) -> Any:
    """A copy of any payload: subclasses, cycles and any depth included. Never raises."""
    pending: deque[tuple[Any, Any]] = deque()
    made: dict[int, Any] = {}
    result = _shell(value, made, pending)
    while pending:
        source, target = pending.pop()
        for key, item in _entries(source):
            target[key] = _shell(item, made, pending)
    return result


def detached(data: dict[str, Any]) -> dict[str, Any]:
    """A private copy, by the fast way if there is one."""
    plain = copy_plain(data)
    if plain is not None:
        return plain
    odd: dict[str, Any] = copy_any(data)
    return odd


def _entries(source: Any) -> Iterable[tuple[Any, Any]]:
    return list(source.items()) if isinstance(source, dict) else enumerate(list(source))


def _shell(value: Any, made: dict[int, Any], pending: deque[tuple[Any, Any]]) -> Any:
    """The copy of a container with its entries still to be filled in; anything else as it is."""
    if not isinstance(value, _CONTAINERS):
        return value
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, tuple):
        return _rebuilt_tuple(value, made, pending)
    result = _shallow(value)
    made[id(value)] = result
    if isinstance(value, (dict, list, deque)):
        pending.append((value, result))
    return result


def _rebuilt_tuple(
    value: tuple[Any, ...], made: dict[int, Any], pending: deque[tuple[Any, Any]]
) -> tuple[Any, ...]:
    try:
        items = [_shell(item, made, pending) for item in value]
    except RecursionError:
        return value  # tuples nested a thousand deep; nothing in them can be assigned
    make = getattr(type(value), "_make", tuple)
    return value if all(map(is_, items, value)) else make(items)


def _shallow(value: Any) -> Any:
    try:
        return copy.copy(value)
    except Exception:  # noqa: BLE001 - whatever a foreign class raises, its base can copy
        base = next(kind for kind in _CONTAINERS if isinstance(value, kind))
        return base(value)


def adopted(
    returned: dict[str, Any], seen: dict[str, Any] | None, current: dict[str, Any]
) -> dict[str, Any]:
    """What a hook handed back, detached from it; parts it left alone are the caller's own again."""
    if seen is None:
        return detached(returned)
    own: dict[int, tuple[Any, Any]] = {}
    try:
        _pair(seen, current, own)
        return {key: _restored(item, own) for key, item in returned.items()}
    except (NotPlain, RecursionError):
        return detached(returned)


def _pair(seen: Any, current: Any, own: dict[int, tuple[Any, Any]]) -> None:
    """Note for each container of the hooks' copy which one of the caller's it stands for."""
    for key, item in _entries(current):
        if isinstance(item, (dict, list)):
            try:
                mirror = seen[key]
            except (KeyError, IndexError):
                continue
            if type(mirror) is type(item):
                own[id(mirror)] = (mirror, item)
                _pair(mirror, item, own)


def _restored(item: Any, own: dict[int, tuple[Any, Any]]) -> Any:
    mirror, original = own.get(id(item), (None, None))
    if mirror is not None and mirror == original:
        return original
    if type(item) is dict:
        return {key: _restored(value, own) for key, value in item.items()}
    if type(item) is list:
        return [_restored(value, own) for value in item]
    return _copy(item)
