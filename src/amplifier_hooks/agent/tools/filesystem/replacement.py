"""Exact replacement of a passage of text; pure functions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amplifier_hooks.agent.tools.base import Refused

_LINES_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Replaced:
    """The new text, how often the passage was replaced, and where first (line, from 1)."""

    text: str
    count: int
    line: int


def replace_passage(text: str, old: str, new: str, *, replace_all: bool) -> Replaced:
    """Replace the one occurrence of `old`, or all of them when that is asked for."""
    if not old:
        raise Refused("old_string is empty; to create a file or replace all of it, use Write")
    if old == new:
        raise Refused("old_string and new_string are the same; nothing would change")
    old, new = _adapt_line_ends(text, old, new)
    count = text.count(old)
    if count == 0:
        raise Refused(f"old_string was not found{_hint_at_whitespace(text, old)}")
    if count > 1 and not replace_all:
        raise Refused(
            f"old_string was found {count} times (lines {_list_lines(text, old)}); add surrounding "
            "lines until it is unique, or set replace_all"
        )
    return Replaced(text.replace(old, new), count, _find_line(text, text.index(old)))


def _find_line(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _adapt_line_ends(text: str, old: str, new: str) -> tuple[str, str]:
    """The agent writes line feeds; a file with carriage returns keeps them."""
    if "\r\n" not in text or "\r" in old:
        return old, new
    # Some line feeds may be bare: those that are left when the pairs are taken out.
    if "\n" in old and old in text.replace("\r\n", "\r"):
        return old, new
    return old.replace("\n", "\r\n"), new.replace("\r\n", "\n").replace("\n", "\r\n")


def _list_lines(text: str, old: str) -> str:
    found: list[str] = []
    position = text.find(old)
    while position >= 0 and len(found) < _LINES_SHOWN:
        found.append(str(_find_line(text, position)))
        position = text.find(old, position + len(old))
    return ", ".join(found) + (", …" if position >= 0 else "")


def _hint_at_whitespace(text: str, old: str) -> str:
    """Where the words stand, if only the space between them differs."""
    words = old.split()
    if not words:
        return "; it is only white space"
    loose = re.search(r"\s+".join(map(re.escape, words)), text)
    if loose is None:
        return "; read the file again and copy the passage exactly, without line numbers"
    return f"; line {_find_line(text, loose.start())} has the same words with other white space"
