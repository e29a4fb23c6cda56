"""Tables: columns side by side, as wide as their widest cell or as they are told to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from amplifier_apps.cli.text.cells import count_cells, cut_end, cut_start
from amplifier_apps.cli.text.fragments import Fragment, Line, join_text
from amplifier_apps.cli.text.output import get_width, is_terminal, print_line

Cell = str | Line
"""A text in the style of its column, or a line with styles of its own; escaped either way."""


@dataclass(frozen=True, slots=True)
class Column:
    """How the cells of a column look."""

    style: str = ""
    width: int = 0
    """How many cells it takes at least; the last one of a row is not padded."""
    align: Literal["left", "right"] = "left"
    overflow: Literal["keep", "cut end", "cut start"] = "keep"
    """What is done where the terminal is too narrow; one column of a table may be cut."""


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
        columns = self._shrink(get_width()) if is_terminal() else self._keep_whole()
        for row in rows:
            print_line(" " * self.indent, *_lay_out(row, columns, self.gap))

    def _keep_whole(self) -> tuple[Column, ...]:
        """The columns as a file or a pipe gets them."""
        return tuple(replace(one, overflow="keep") for one in self.columns)

    def _shrink(self, width: int) -> tuple[Column, ...]:
        """The columns as a terminal of this width shows them."""
        gaps = self.gap * (len(self.columns) - 1)
        over = self.indent + gaps + sum(one.width for one in self.columns) - (width - 1)
        return tuple(
            one if one.overflow == "keep" else replace(one, width=min(one.width, one.width - over))
            for one in self.columns
        )


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


def _style(cell: Cell, column: Column) -> Line:
    if not isinstance(cell, str):
        return cell
    if column.overflow == "cut end":
        cell = cut_end(cell, column.width)
    elif column.overflow == "cut start":
        cell = cut_start(cell, column.width)
    return ((column.style, cell),)
