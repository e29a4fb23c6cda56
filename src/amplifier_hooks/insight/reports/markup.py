"""HTML that is made of elements and of text; only this file writes a tag."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from amplifier_hooks.text.escape import ESCAPED, escape

_VOID = frozenset({"meta", "br", "hr"})
_ESCAPES = re.compile(f"(?:{ESCAPED.pattern})+")


class Markup(str):
    """HTML that was made here; every other text is escaped."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """An element with its children; those that are text are escaped.

    An attribute's name has `_` for `-`, and one at its end if it is a word of Python.
    """
    start = f"<{name}{''.join(_write_attributes(attributes))}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def _write_attributes(attributes: dict[str, str | float | bool | None]) -> Iterable[str]:
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {name}"
        elif value is not None and value is not False:
            yield f' {name}="{html.escape(escape(_to_text(value)))}"'


def _to_text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def join(children: Iterable[str]) -> Markup:
    """Children one after another."""
    return Markup("".join(one if isinstance(one, Markup) else text(one) for one in children))


def text(value: str, *, lines: bool = False) -> Markup:
    """Any text: its tags are no tags, and what would be hidden is shown and stands out."""
    escaped = escape(value, lines=lines)
    pieces: list[str] = []
    position = 0
    for match in _ESCAPES.finditer(escaped):
        pieces.append(html.escape(escaped[position : match.start()]))
        pieces.append(f'<span class="hidden">{html.escape(match.group())}</span>')
        position = match.end()
    pieces.append(html.escape(escaped[position:]))
    return Markup("".join(pieces))


def isolate(value: str) -> Markup:
    """Foreign text whose direction of writing does not reach beyond it."""
    return element("bdi", text(value))
