"""Tells plain values from others: those that JSON takes as they are, within the limits of a record.

Every record pays for this look, so it makes few calls.
"""

from __future__ import annotations

from gc import get_referents
from typing import Any

from amplifier_audit.format.limits import WIDE

_MEMBERS, _NODES = WIDE.members, WIDE.nodes
_LEVELS = range(WIDE.depth - 1)


def is_plain(value: dict[Any, Any]) -> bool:
    """Whether a dict holds only what JSON knows, and not much.

    Which numbers it holds, and how long its texts and keys are, is easier to tell from the JSON.
    """
    nodes = size = len(value)
    # What containers refer to: the entries of lists, the values of dicts, and the keys as well if
    # one of them is not exactly a str. So keys need no look of their own: the count tells.
    level: list[Any] = get_referents(value)
    for _ in _LEVELS:
        if len(level) != size or size > _MEMBERS:
            return False
        size = 0
        for entry in level:
            kind = type(entry)
            if kind is str:
                continue
            if kind is dict or kind is list:
                size += len(entry)
            elif entry is not None and kind is not int and kind is not float and kind is not bool:
                return False
        if not size:
            return nodes <= _NODES
        nodes += size
        # Only of leaves, dicts and lists: others may refer to anything.
        level = get_referents(*level)
    return False
