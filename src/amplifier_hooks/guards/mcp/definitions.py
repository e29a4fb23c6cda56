"""Definitions of tools: what a person allows, and what has changed about it since."""

from __future__ import annotations

import difflib
import json
import re
from typing import Any

from amplifier_core.utils import digest

Definition = dict[str, Any]
"""A tool as its server describes it."""

_FIRST = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")
_FOR_PEOPLE = "icons"
"""All else is read by some model, or decides how a call is treated: clients differ in that."""


_BLANK = re.compile(
    "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0\\U000e0100-\\U000e01ef]"
)
"""Fillers and variation selectors: whole texts were hidden in rows of these."""

_MOST_COMPARED = 2_000
"""Lines: to find the shortest way from one text to the other takes their square."""

_HEADERS = 2
"""Lines at the top of a comparison. By their marks they cannot be told from lines of a text."""


def digest_definition(tool: Definition) -> str:
    """What is compared with the definition that a person allowed."""
    return digest({name: tool[name] for name in _list_judged(tool) if tool.get(name) is not None})


def describe_change(before: Definition, after: Definition) -> str:
    """The lines of a definition that went away and came, for a person who decides."""
    changes: list[str] = []
    for name in _list_judged(before, after):
        old, new = _write(before.get(name)), _write(after.get(name))
        if old == new:
            continue
        changes += [f"{name}:", *(f"  {one}" for one in _mark(old, new))]
    return "\n".join(changes)


def _mark(old: list[str], new: list[str]) -> list[str]:
    """The lines that came and went, with what is around them if there are not too many."""
    if len(old) + len(new) > _MOST_COMPARED:
        came, went = set(new), set(old)
        return [
            *(f"+{one}" for one in new if one not in went),
            *(f"-{one}" for one in old if one not in came),
        ] or ["the same lines, in another order or number"]
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[_HEADERS:]
    return [one for one in lines if not one.startswith("@@")]


def describe_definition(tool: Definition) -> str:
    """A whole definition, for a person who sees it for the first time."""
    parts = [_introduce(name, tool[name]) for name in _list_judged(tool)[1:] if tool.get(name)]
    return "\n".join(parts) or "It says nothing about itself."


def _introduce(name: str, value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    first, *rest = [_spell_out(line) for line in text.splitlines()] or [""]
    return "\n".join([f"{name}: {first}", *(f"  {line}" for line in rest)])


def _list_judged(*tools: Definition) -> list[str]:
    others = {name for tool in tools for name in tool} - {*_FIRST, _FOR_PEOPLE}
    return [*_FIRST, *sorted(others)]


def _write(value: Any) -> list[str]:
    if value is None:
        return []
    text = value if isinstance(value, str) else json.dumps(value, indent=1, sort_keys=True)
    return [_spell_out(line) for line in text.splitlines()]


def _spell_out(line: str) -> str:
    """The line with every character named that moves or hides others on a screen, or is blank."""
    if line.isascii() and line.isprintable():
        return line
    return "".join(c.encode("unicode_escape").decode() if _hides(c) else c for c in line)


def _hides(character: str) -> bool:
    return not character.isprintable() or _BLANK.fullmatch(character) is not None
