"""Tells plain values from others: those that JSON takes as they are, within the limits of a record.

Every record pays for this look, so it takes few calls for many entries.
"""

from __future__ import annotations

from gc import get_referents
from typing import Any

from amplifier_audit.format.limits import KEY_LIMIT, WIDE

_MEMBERS, _LEVELS, _NODES = WIDE.members, WIDE.depth - 2, WIDE.nodes
_join = "".join
_are_known = frozenset({str, int, float, bool, type(None), dict, list}).issuperset


def is_plain(value: dict[Any, Any]) -> bool:
    """Whether a dict holds only what JSON knows, and not much; TypeError if a key is no text.

    Which numbers it holds, and how long its texts are, is easier to tell from the JSON.
    """
    if len(value) > _MEMBERS:
        return False
    # What containers refer to: the entries of lists, the values of dicts, and the keys as well if
    # one of them is not exactly a str. Others may refer to anything, but not for many levels.
    level: list[Any] = get_referents(value)
    below: list[Any] = get_referents(*level)
    if not below:
        return _are_known(map(type, level)) and _are_short(value)
    above: list[Any] = [value]
    for _ in range(_LEVELS):
        if len(below) > _MEMBERS:
            return False
        above += level
        level = below
        below = get_referents(*level)
        if not below:
            return _is_plain_inside(above, level)
    return False


def _is_plain_inside(containing: list[Any], last: list[Any]) -> bool:
    """Both lists together are all there is; in the last one containers are empty."""
    found = [*containing, *last]
    if len(found) > _NODES or not _are_known(map(type, found)):
        return False
    return _are_short(set().union(*[one for one in containing if type(one) is dict]))


def _are_short(keys: set[Any] | dict[Any, Any]) -> bool:
    return len(_join(keys)) <= KEY_LIMIT or max(map(len, keys)) <= KEY_LIMIT
