"""Tells plain values from others: those that JSON takes as they are, within the limits of a record.

Every record pays for this look, so it makes few calls.
"""

from __future__ import annotations

from gc import get_referents
from itertools import chain
from typing import Any

from amplifier_audit.format.limits import KEY_LIMIT, WIDE

_MEMBERS, _DEPTH, _NODES = WIDE.members, WIDE.depth, WIDE.nodes
_LEAVES = frozenset({str, int, float, bool, type(None)})
_are_known = (_LEAVES | {dict, list}).issuperset
_are_texts = frozenset({str}).issuperset
_join = "".join


def is_plain(value: dict[Any, Any]) -> bool:
    """Whether a dict holds only what JSON knows, and not much.

    Which numbers it holds, and how long its texts are, is easier to tell from the JSON.
    """
    found: list[Any] = [value]
    keys: list[Any] = []
    # So few containers cannot be nested too deep, nor hold one another without an end.
    left = _DEPTH
    for entry in found:
        kind = type(entry)
        if kind is str or kind in _LEAVES:
            continue
        if not left:
            return _is_plain_by_levels(value)
        left -= 1
        if kind is dict and len(entry) <= _MEMBERS:
            keys += entry
            found += entry.values()
        elif kind is list and len(entry) <= _MEMBERS:
            found += entry
        else:
            return False
    return len(found) <= _NODES and _are_texts(map(type, keys)) and _are_short(keys)


def _is_plain_by_levels(value: dict[Any, Any]) -> bool:
    """The same for many containers: slower to begin, and then faster for each."""
    # What containers refer to: the entries of lists, the values of dicts, and the keys as well if
    # one of them is not exactly a str. Others may refer to anything, but not for many levels.
    level: list[Any] = get_referents(value)
    above: list[Any] = [value]
    for _ in range(_DEPTH - 1):
        below: list[Any] = get_referents(*level)
        if not below:
            found = [*above, *level]
            if len(found) > _NODES or not _are_known(map(type, found)):
                return False
            keys = [*chain.from_iterable([one for one in above if type(one) is dict])]
            return _are_texts(map(type, keys)) and _are_short(keys)
        if len(below) > _MEMBERS:
            return False
        above += level
        level = below
    return False


def _are_short(keys: list[str]) -> bool:
    return len(_join(keys)) <= KEY_LIMIT or max(map(len, keys)) <= KEY_LIMIT
