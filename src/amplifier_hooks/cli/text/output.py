"""Output of commands: styles, short words, plain text without a terminal or with NO_COLOR."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import click

from amplifier_hooks.text.escape import (
    ESCAPED,
    TAB,
    escape,
    get_first_line,
    make_readable,
    unescape,
)

if TYPE_CHECKING:
    from amplifier_hooks.cli.text.fragments import Fragment, Line


STYLES = {
    "good": "green",
    "bad": "red",
    "warn": "yellow",
    "note": "cyan",
    "dim": "bright_black",
    "title": "bold",
    "tool": "bold cyan",
    "target": "bold",
    "key": "cyan",
    "escape": "reverse magenta",
    "gutter": "bright_black",
    # A change to a file
    "add": "green",
    "del": "red",
    "hunk": "cyan",
    # A shell command
    "program": "bold green",
    "operator": "bold yellow",
    "string": "cyan",
    # A question
    "rule": "yellow",
    "question": "bold yellow",
    "time": "yellow",
    "urgent": "bold red",
    "prompt": "bold",
    "label": "bright_black",
    "comment": "italic",
    "cursor": "reverse",
    "allow": "bold green",
    "refuse": "bold red",
}

_ANSI = {
    "bold": "1",
    "italic": "3",
    "reverse": "7",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "magenta": "35",
    "cyan": "36",
    "bright_black": "90",
}
_ATTRIBUTES = frozenset({"bold", "italic", "reverse"})


def to_ansi(style: str) -> str:
    """The codes of a style for a terminal; none for a style that is not in the table."""
    return ";".join(_ANSI[word] for word in STYLES.get(style, "").split())


def to_prompt_toolkit(style: str) -> str:
    """A style as prompt_toolkit reads it."""
    words = STYLES.get(style, "").split()
    return " ".join(
        word if word in _ATTRIBUTES else f"ansi{word.replace('_', '')}" for word in words
    )


__all__ = [
    "ESCAPED",
    "TAB",
    "escape",
    "get_first_line",
    "make_readable",
    "unescape",
]


def format_age(when: str, now: datetime | None = None) -> str:
    """How long ago a saved time is, in one word or two."""
    try:
        passed = (now or datetime.now(UTC)) - datetime.fromisoformat(when)
    except ValueError:
        return "?"
    seconds = int(passed.total_seconds())
    for size, word in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {word} ago"
    return "just now"


_WORDS = {
    "timeout": "nobody decided in time",
    "nobody": "there was nobody to ask",
    "error": "the question could not be asked",
    "invalid": "the answer was none of the options",
    "cache": "as decided before in this session",
    "handed_over": "another program asked its own person",
}


def explain_how(how: object) -> str:
    """Why the gate ended as it did; nothing if somebody decided."""
    return _WORDS.get(str(how), "")


def shorten_folder(folder: str) -> str:
    """The folder, with a tilde for the home that it lies in."""
    path = Path(folder)
    home = Path.home()
    if path == home:
        return "~"
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) else folder


Part: TypeAlias = "str | Fragment"
"""A piece of a line: plain, or with its style. Foreign text in it has been escaped."""

_USUAL_WIDTH = 80
_NARROWEST = 20
"""Columns below which the whole line is wrapped, and not its last part alone."""


def is_terminal() -> bool:
    """Whether lines must fit: a file or a pipe gets them whole."""
    return sys.stdout.isatty()


def uses_colour() -> bool:
    """Whether to paint: a terminal, and no NO_COLOR."""
    return is_terminal() and not os.environ.get("NO_COLOR")


def get_width() -> int:
    """The columns of the terminal, or those that the environment sets."""
    # As `shutil` does it, which brings everything along that packs and copies files.
    try:
        columns = int(os.environ.get("COLUMNS", ""))
    except ValueError:
        columns = 0
    return columns if columns > 0 else _measure_terminal() or _USUAL_WIDTH


def _measure_terminal() -> int:
    stream = sys.__stdout__
    try:
        return os.get_terminal_size(stream.fileno()).columns if stream is not None else 0
    except (ValueError, OSError):  # it is closed, or no terminal
        return 0


def print_line(*parts: Part) -> None:
    """Print one line."""
    click.echo(paint(_to_fragment(part) for part in parts))


def print_heading(text: str) -> None:
    """Print a title with an empty line before it."""
    print_line("")
    print_line(("title", text))


def print_wrapped(indent: int, *parts: Part) -> None:
    """Print one line whose last part goes on below itself where the terminal ends."""
    from amplifier_hooks.cli.text.fragments import count_cells, wrap_words

    line = [_to_fragment(part) for part in parts]
    *first, (style, text) = line
    begin = sum(count_cells(before) for _, before in first)
    room = get_width() - 1 - indent - begin
    is_tight = is_terminal() and room < min(_NARROWEST, count_cells(text))
    if is_tight and room + begin >= _NARROWEST:
        _print_rows(indent, wrap_words(tuple(line), room + begin))
        return
    rows = _wrap(text, room) if is_terminal() and not is_tight else [text]
    print_line(" " * indent, *first, (style, rows[0]))
    _print_rows(indent + begin, [((style, row),) for row in rows[1:]])


def _print_rows(indent: int, rows: Iterable[Line]) -> None:
    for row in rows:
        print_line(" " * indent, *row)


def paint(fragments: Iterable[Fragment]) -> str:
    """The line with its colours, where colours are used."""
    if not uses_colour():
        return "".join(text for _, text in fragments).rstrip()
    return "".join(_paint_fragment(style, text) for style, text in fragments)


def _to_fragment(part: Part) -> Fragment:
    return part if isinstance(part, tuple) else ("", part)


def _paint_fragment(style: str, text: str) -> str:
    codes = to_ansi(style)
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def _wrap(text: str, room: int) -> list[str]:
    from textwrap import wrap

    return wrap(text, room, replace_whitespace=False, break_on_hyphens=False) or [""]
