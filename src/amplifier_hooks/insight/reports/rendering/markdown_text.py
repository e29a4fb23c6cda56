"""Any text as Markdown that shows it: no link, no tag, no end of a table's cell."""

from __future__ import annotations

import re

from amplifier_hooks.text.escape import escape

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$^=])")
_LIST = re.compile(r"^(\s*)([-+]|\d{1,9}[.)](?=\s|$))")
# Readers make links of these without being asked, and tell people whose names stand behind an @.
_LINKED = re.compile(r"://|www\.|@|\bmailto:|\bxmpp:|#\d", re.IGNORECASE)
_PIPE = "\\u{7C}"


def write_prose(text: str) -> str:
    """A sentence; one that a reader would make a link of is written as code."""
    shown = " ".join(escape(text.replace("\t", " ")).split(" "))
    if _LINKED.search(shown):
        return write_code(text)
    marked = _SPECIAL.sub(r"\\\1", shown)
    return _LIST.sub(lambda one: f"{one[1]}{one[2][:-1]}\\{one[2][-1]}", marked)


def write_code(text: str, *, in_table: bool = False) -> str:
    """Text on one line, as it is, between as many backticks as it takes."""
    shown = escape(text)
    if not shown.strip():
        return "(empty)" if not text else f"({len(text)} blanks)"
    if in_table:
        shown = _keep_in_cell(shown)
    fence = "`" * (_find_longest(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _keep_in_cell(shown: str) -> str:
    """A bar ends a cell, except behind one backslash; behind two it does again."""
    return re.sub(r"(\\*)\|", lambda one: rf"{one[1]}{_PIPE}" if one[1] else r"\|", shown)


def write_block(text: str) -> list[str]:
    """Text of several lines, as it is, between fences that are longer than any in it."""
    shown = escape(text.replace("\r\n", "\n"), lines=True)
    fence = "`" * max(3, _find_longest(shown) + 1)
    return [f"{fence}text", *shown.split("\n"), fence]


def _find_longest(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
