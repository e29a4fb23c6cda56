"""What a command prints: styled lines and tables, plain without a terminal or with NO_COLOR."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence

import click

from amplifier_apps.cli.text.fragments import Line

CODES = {
    "good": "32",
    "bad": "31",
    "warn": "33",
    "note": "36",
    "dim": "90",
    "tool": "1;36",
    "title": "1",
    "add": "32",
    "del": "31",
}


_NARROWEST = 20
"""Columns below which wrapping does more harm than good."""


def colourful() -> bool:
    """Whether to paint: a terminal, and no NO_COLOR."""
    return on_screen() and not os.environ.get("NO_COLOR")


def on_screen() -> bool:
    """Whether lines must fit: a file or a pipe gets them whole."""
    return sys.stdout.isatty()


def width() -> int:
    """Columns to fill."""
    return shutil.get_terminal_size((80, 24)).columns


def say(*parts: str | tuple[str, str]) -> None:
    """Print one line of texts and (style, text) pairs; foreign text must be escaped before."""
    fragments = [part if isinstance(part, tuple) else ("", part) for part in parts]
    click.echo(painted(fragments))


def wrapped(indent: int, *parts: str | tuple[str, str]) -> None:
    """One line whose last part goes on below itself where the terminal ends."""
    *first, last = [part if isinstance(part, tuple) else ("", part) for part in parts]
    begin = sum(cells(text) for _, text in first)
    room = width() - 1 - indent - begin
    rows = _rows(last[1], room) if on_screen() and room >= _NARROWEST else [last[1]]
    say(" " * indent, *first, (last[0], rows[0]))
    for row in rows[1:]:
        say(" " * (indent + begin), (last[0], row))


def _rows(text: str, room: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, room, replace_whitespace=False, break_on_hyphens=False) or [""]


def painted(fragments: Iterable[tuple[str, str]]) -> str:
    """The line with its colours, if there are any."""
    if not colourful():
        return "".join(text for _, text in fragments).rstrip()
    return "".join(_paint(style, text) for style, text in fragments)


def _paint(style: str, text: str) -> str:
    code = CODES.get(style)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text else text


def cells(text: str) -> int:
    """How many columns a harmless text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(ch) else 2 if unicodedata.east_asian_width(ch) in "WF" else 1
        for ch in text
    )


def fitted(text: str, room: int, *, keep_end: bool = False) -> str:
    """The text, cut to so many columns with a sign that something is missing."""
    if cells(text) <= room:
        return text
    if keep_end:
        return fitted(text[::-1], room)[::-1]
    kept = ""
    for ch in text:
        if cells(kept + ch) > max(0, room - 1):
            break
        kept += ch
    return f"{kept}…"


def table(
    rows: Sequence[Sequence[str]],
    styles: Sequence[str] = (),
    *,
    indent: int = 0,
    keep_end: bool = False,
) -> None:
    """Columns side by side; the last one gets what is left of the width, or its end does."""
    if not rows:
        return
    widths = [max(cells(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = width() - 1 - indent - sum(widths[:-1]) - 2 * (len(widths) - 1)
    for row in rows:
        line: list[tuple[str, str]] = [("", " " * indent)]
        for column, text in enumerate(row[:-1]):
            padding = " " * (widths[column] - cells(text) + 2)
            line.append((_style(styles, column), text + padding))
        last = fitted(row[-1], room, keep_end=keep_end) if on_screen() else row[-1]
        line.append((_style(styles, len(row) - 1), last))
        say(*line)


def _style(styles: Sequence[str], column: int) -> str:
    return styles[column] if column < len(styles) else ""


def heading(text: str) -> None:
    """A title with an empty line before it."""
    say("")
    say(("title", text))


def lines(many: Iterable[Line]) -> None:
    """Narrated lines."""
    for line in many:
        say(*line)
