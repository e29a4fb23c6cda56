"""The texts that a script gives its variables, and what expansions make of them: `${f%.bak}`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Protocol

_ASSIGNED = re.compile(r"(?:^|[\s;&|(])([A-Za-z_]\w*)\+?=(\"[^\"]*\"|'[^']*'|[^\s;&|()]*)")
_LOOPED = re.compile(r"\b(?:for|select)\s+([A-Za-z_]\w*)\s+in\s+([^;\n]*)")
_VARIABLE = re.compile(
    r"\$(?:(?P<bare>[A-Za-z_]\w*)|\{(?P<name>[A-Za-z_]\w*)"
    r"(?:(?P<sign>%%?|##?|//?|\^\^?|,,?)(?P<what>[^{}]*)|:?[-=](?P<other>[^}]*))?\})"
)
_DEPTH = 3


class Lists(Protocol):
    """What a variable may hold; each name by itself, where a glob stands for several."""

    def __call__(self, name: str, *, each: bool) -> list[str]: ...


def list_values(text: str) -> dict[str, list[str]]:
    """The literal texts that variables are set to, wherever in a script."""
    found: dict[str, list[str]] = {}
    for name, value in _ASSIGNED.findall(text):
        found.setdefault(name, []).append(value.strip("\"'"))
    for name, words in _LOOPED.findall(text):
        found.setdefault(name, []).extend(one.strip("\"'") for one in words.split())
    return found


def fill_variables(text: str, values: Lists, depth: int = _DEPTH) -> Iterator[str]:
    """A text with each value that its variables may have."""
    found = _VARIABLE.search(text)
    if found is None or depth == 0:
        yield text
        return
    name, sign = found["bare"] or found["name"], found["sign"]
    known = values(name, each=bool(sign))
    texts = [_transform(one, sign, found["what"].strip("\"'")) for one in known] if sign else known
    for value in [*texts, *([found["other"]] if found["other"] else [])]:
        filled = text[: found.start()] + value + text[found.end() :]
        yield from fill_variables(filled, values, depth - 1)


def _transform(value: str, sign: str, what: str) -> str:
    if sign[0] in "^,":
        first, rest = (value, "") if len(sign) > 1 else (value[:1], value[1:])
        return (first.upper() if sign[0] == "^" else first.lower()) + rest
    if sign[0] == "/":
        old, _, new = what.partition("/")
        return value.replace(old, new, -1 if len(sign) > 1 else 1) if old else value
    places = range(len(value) + 1)
    if sign[0] == "%":
        order = places if len(sign) > 1 else reversed(places)
        return next((value[:at] for at in order if fnmatchcase(value[at:], what)), value)
    order = reversed(places) if len(sign) > 1 else places
    return next((value[at:] for at in order if fnmatchcase(value[:at], what)), value)
