"""Tables: columns side by side, as wide as their widest cell or as they are told to be.

On a terminal no line is wider than it: one column may be cut, the last one goes on below itself,
and where even that is too wide the cells of a row stand below one another.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from amplifier_hooks.cli.text.fragments import (
    Fragment,
    Line,
    count_cells,
    cut_end,
    cut_start,
    join_text,
    wrap_words,
)
from amplifier_hooks.cli.text.output import get_width, is_terminal, print_line

Cell = str | Line
"""A text in the style of its column, or a line with styles of its own; escaped either way."""

NARROWEST = 10
"""Cells that a column keeps when it is cut or goes on below itself."""
_HANGING = 4


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of a column look."""

    style: str = ""
    width: int = 0
    """How many cells it takes at least; the last one of a row is not padded."""
    align: Literal["left", "right"] = "left"
    overflow: Literal["keep", "cut end", "cut start"] = "keep"
    """What is done where the terminal is too narrow; one column of a table may be cut."""

    def shrink(self, cells: int) -> Column:
        """The column with so many cells less, if it may be cut."""
        if self.overflow == "keep":
            return self
        return replace(self, width=max(self.width - cells, min(self.width, NARROWEST)))


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, their distance from the left, and the gap between them."""

    columns: tuple[Column, ...]
    indent: int = 0
    gap: int = 2

    def fit(self, rows: Iterable[Sequence[Cell]]) -> Table:
        """The same table, with columns as wide as these rows need."""
        widths = [column.width for column in self.columns]
        for row in rows:
            for index, cell in enumerate(row):
                widths[index] = max(widths[index], _measure(cell))
        columns = zip(self.columns, widths, strict=True)
        return replace(self, columns=tuple(replace(one, width=width) for one, width in columns))

    def print(self, rows: Iterable[Sequence[Cell]]) -> None:
        """Print rows as they come: a log may be larger than memory."""
        if not is_terminal():
            columns = tuple(replace(one, overflow="keep") for one in self.columns)
            for row in rows:
                print_line(" " * self.indent, *_lay_out(row, columns, self.gap))
            return
        room = get_width() - 1 - self.indent
        shrunk = self._shrink(room)
        stacked = _measure_columns(shrunk, self.gap) > room
        for row in rows:
            lines = _stack(row, shrunk, room) if stacked else _flow(row, shrunk, self.gap, room)
            for line in lines:
                print_line(" " * self.indent, *line)

    def _shrink(self, room: int) -> tuple[Column, ...]:
        """The columns as a terminal with so much room shows them."""
        over = sum(one.width for one in self.columns) + self.gap * (len(self.columns) - 1) - room
        return tuple(one.shrink(max(over, 0)) for one in self.columns)


def _measure_columns(columns: Sequence[Column], gap: int) -> int:
    """The cells that the columns need at least: the last one can go on below itself."""
    *first, last = columns
    return sum(one.width + gap for one in first) + min(last.width, NARROWEST)


def print_table(rows: Sequence[Sequence[Cell]], *columns: Column, indent: int = 0) -> None:
    """Print a table whose columns are as wide as these rows need."""
    Table(columns, indent).fit(rows).print(rows)


def _measure(cell: Cell) -> int:
    return count_cells(cell if isinstance(cell, str) else join_text(cell))


def _lay_out(row: Sequence[Cell], columns: Sequence[Column], gap: int) -> Iterator[Fragment]:
    """The pieces of a printed row; a row may end before the last column."""
    last = len(row) - 1
    for index, (cell, column) in enumerate(zip(row, columns, strict=False)):
        line = _style(cell, column)
        padding = " " * (column.width - _measure(line))
        if column.align == "right":
            yield "", padding
        yield from line
        if index < last:
            yield "", (padding if column.align == "left" else "") + " " * gap


def _flow(row: Sequence[Cell], columns: Sequence[Column], gap: int, room: int) -> list[Line]:
    """A row whose last cell goes on below itself, if it must."""
    line = tuple(_lay_out(row, columns, gap))
    if not row or _measure(line) <= room:
        return [line]
    last = _style(row[-1], columns[len(row) - 1])
    before = line[: len(line) - len(last)]
    start = _measure(line) - _measure(last)
    if room - start < NARROWEST:
        return _stack(row, columns, room)
    first, *others = wrap_words(last, room - start)
    return [(*before, *first), *((("", " " * start), *other) for other in others)]


def _stack(row: Sequence[Cell], columns: Sequence[Column], room: int) -> list[Line]:
    """As many cells side by side as fit, the others below."""
    lines: list[Line] = [()]
    for cell, column in zip(row, columns, strict=False):
        styled = _style(cell, replace(column, overflow="keep"))
        if not _measure(styled):
            continue
        if lines[-1] and _measure(lines[-1]) + 1 + _measure(styled) <= room:
            lines[-1] = (*lines[-1], ("", " "), *styled)
            continue
        hanging = " " * (_HANGING if lines[-1] else 0)
        parts = wrap_words(styled, room - len(hanging))
        lines = [*(lines if lines[-1] else []), *((("", hanging), *one) for one in parts)]
    return lines


def _style(cell: Cell, column: Column) -> Line:
    if not isinstance(cell, str):
        return cell
    if column.overflow == "cut end":
        cell = cut_end(cell, column.width)
    elif column.overflow == "cut start":
        cell = cut_start(cell, column.width)
    return ((column.style, cell),)
