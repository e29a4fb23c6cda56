"""Copies of event data: what a hook gets is never what the caller or the operation holds.

Containers and records (pydantic models, dataclasses) are copied, leaves are shared: a megabyte
string costs nothing, and an object of any other class keeps its identity, so what a hook does
inside such an object is not undone. Payloads made of plain containers have one copy that hooks
share and that is compared after each of them; what compares equal counts as unchanged. Everything
else (subclasses of containers, records, cycles, great depth) is copied for each hook, because a
comparison of it cannot be trusted or does not end.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import Any

from amplifier_core.utils.copying import ATOMS, CONTAINERS, copy_any, is_record, is_same


class NotPlain(Exception):
    """The payload holds something that only the slow copy understands."""


# Plain payloads: the fast way


def copy_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    """A copy that may be compared with its original; raises NotPlain if there is no such copy."""
    result = value.copy()
    for key, item in value.items():
        if type(item) not in ATOMS:
            result[key] = _copiers.get(type(item), _unknown)(item)
    return result


def _copy_list(value: list[Any]) -> list[Any]:
    if ATOMS.issuperset(map(type, value)):
        return value.copy()
    return [_copiers.get(type(item), _unknown)(item) for item in value]


def _copy_tuple(value: tuple[Any, ...]) -> tuple[Any, ...]:
    result = tuple(_copy_list(list(value)))
    return value if all(map(is_, result, value)) else result


def _unknown(value: Any) -> Any:
    if isinstance(value, CONTAINERS) or is_record(value):
        raise NotPlain
    return value


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
    return item if type(item) in ATOMS else _copiers.get(type(item), _unknown)(item)
