"""A block of Markdown that grows beyond the screen: where it can be cut, so that its beginning
need not be rendered again and again."""

from __future__ import annotations

import re

CONTEXT_LINES = 30
"""Lines of code before the cut that are read again: a text over several lines may be open."""
MOST_LINES = 60

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])\s")
_TABLE = re.compile(r"[^\n]*\|[^\n]*\n[ |:-]+\n")


def is_fence(block: str) -> bool:
    """Whether a block is code between fences."""
    return _FENCE.match(block) is not None


def cut_block(block: str, keep: int) -> tuple[str, str] | None:
    """A block of text in two, the second with about so many lines; None if it is one piece.

    A list is cut between its items. A table is not cut: its columns grow with it.
    """
    if is_fence(block) or _TABLE.match(block):
        return None
    lines = block.split("\n")
    place = max(0, len(lines) - 1 - keep)
    item = _ITEM.match(lines[0])
    while item and place and not _begins_item(lines[place], item[1]):
        place -= 1
    return ("\n".join(lines[:place]), "\n".join(lines[place:])) if place else None


def cut_code(block: str) -> tuple[str, str] | None:
    """Long code in two, each with the line that opens its fence; None if it is not long."""
    opening, *lines = block.split("\n")
    if len(lines) <= MOST_LINES:
        return None
    place = len(lines) - CONTEXT_LINES
    # Empty lines at an edge are not shown, and would be missed when rows are counted.
    while place and not (lines[place - 1].strip() and lines[place].strip()):
        place -= 1
    if not place:
        return None
    return "\n".join([opening, *lines[:place]]), "\n".join([opening, *lines[place:]])


def _begins_item(line: str, indent: str) -> bool:
    found = _ITEM.match(line)
    return found is not None and found[1] == indent
