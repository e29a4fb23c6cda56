"""The words of a reply on a terminal: what is complete is printed, the rest is drawn below it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from amplifier_apps.cli.display.markdown_text import (
    Row,
    is_table,
    render_markdown,
    split_blocks,
)

_SPARE_ROWS = 6
"""Rows of the screen that a growing block leaves to everything else."""


class Rows:
    """Rows that were laid out already."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows = list(rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for row in self._rows:
            yield from row
            yield Segment.line()


class ReplyText(Protocol):
    """Takes readable text as it comes."""

    @property
    def is_begun(self) -> bool:
        """Whether there is text that nothing has ended yet."""

    def feed(self, text: str) -> None:
        """Take a piece, and print what is complete."""

    def draw(self) -> list[Row]:
        """What is still being written, as far as it fits on the screen."""

    def flush(self) -> None:
        """Print what is left: nothing will be added to it."""


class PlainReply:
    """Line by line, as it was written."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._line = ""

    @property
    def is_begun(self) -> bool:
        """Whether a line is being written."""
        return bool(self._line)

    def feed(self, text: str) -> None:
        """Take a piece, and print the lines that it completes."""
        *whole, self._line = (self._line + text).split("\n")
        if whole:
            self._console.print(Text("\n".join(whole)), soft_wrap=False)

    def draw(self) -> list[Row]:
        """The line being written."""
        if not self._line:
            return []
        options = self._console.options.update(no_wrap=False, overflow="fold")
        rows = self._console.render_lines(Text(self._line), options, pad=False)
        return rows[-_count_room(self._console) :]

    def flush(self) -> None:
        """Print the line, complete or not."""
        line, self._line = self._line.rstrip(), ""
        if line:
            self._console.print(Text(line), soft_wrap=False)


class MarkdownReply:
    """Block by block, rendered. A block taller than the screen is printed row by row."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._block = ""
        self._width = 0
        self._printed = 0
        """Rows of the block that were printed already, at this width."""
        self._follows = False
        """Whether a block of the same reply was printed before."""

    @property
    def is_begun(self) -> bool:
        """Whether a block was printed or is being written."""
        return self._follows or bool(self._block.strip())

    def feed(self, text: str) -> None:
        """Take a piece, and print the blocks before the one that it belongs to."""
        self._block += text
        if "\n" not in text:
            return
        whole, rest = split_blocks(self._block)
        for block in whole:
            self._block = block
            self._end_block()
        self._block = rest
        self._print_tall()

    def draw(self) -> list[Row]:
        """The end of the block being written."""
        rows = self._render()[self._printed :]
        gap: list[Row] = [[]] if self._follows and not self._printed and rows else []
        return [*gap, *rows][-_count_room(self._console) :]

    def flush(self) -> None:
        """Print the rest of the block; what comes then is another reply."""
        self._end_block()
        self._follows = False

    def _end_block(self) -> None:
        self._print(self._render()[self._printed :])
        self._block, self._printed, self._width = "", 0, 0

    def _print_tall(self) -> None:
        """Print the rows of a growing block that the screen has no room for."""
        rows, room = self._render(), _count_room(self._console)
        if len(rows) - self._printed <= room or is_table(self._block):
            return
        until = len(rows) - room // 2
        self._print(rows[self._printed : until])
        self._printed = until

    def _render(self) -> list[Row]:
        if not self._block.strip():
            return []
        # Rows are counted, so a block keeps the width with which it was begun to be printed.
        self._width = self._width if self._printed else self._console.width
        return render_markdown(self._block, self._console, self._width)

    def _print(self, rows: list[Row]) -> None:
        if not rows:
            return
        gap: list[Row] = [[]] if self._follows and not self._printed else []
        self._follows = True
        self._console.print(Rows([*gap, *rows]), end="")


def _count_room(console: Console) -> int:
    return max(3, console.height - _SPARE_ROWS)


def make_reply(console: Console) -> ReplyText:
    """Rendered where there are colours; else the text as the model wrote it."""
    if console.is_terminal and not console.no_color:
        return MarkdownReply(console)
    return PlainReply(console)
