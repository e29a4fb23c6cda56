"""What a command prints: styled lines, plain without a terminal or with NO_COLOR."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

import click

from amplifier_hooks.cli.text.styles import to_ansi

if TYPE_CHECKING:
    from amplifier_hooks.cli.text.fragments import Fragment, Line

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
