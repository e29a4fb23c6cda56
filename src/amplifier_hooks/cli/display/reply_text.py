"""The words of a reply on a terminal: what is complete is printed, the rest is drawn below it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Protocol

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

CONTEXT_LINES = 30
"""Lines of code before the cut that are read again: a text over several lines may be open."""
MOST_LINES = 60

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"( {0,3})([-*+]|\d{1,9}[.)])\s")
_TABLE = re.compile(r"[^\n]*\|[^\n]*\n[ |:-]+\n")


def is_fence(block: str) -> bool:
    """Whether a block is code between fences."""
    return _FENCE.match(block) is not None


def cut_block(block: str, keep: int) -> tuple[str, str] | None:
    """A block of text in two, the second with about so many lines; None if it is one piece.

    A list is cut between its items. A table is not cut: its columns grow with it.
    """
    if is_fence(block) or _TABLE.match(block):
        return None
    lines = block.split("\n")
    place = max(0, len(lines) - 1 - keep)
    item = _ITEM.match(lines[0])
    while item and place and not _begins_item(lines[place], item[1]):
        place -= 1
    return ("\n".join(lines[:place]), "\n".join(lines[place:])) if place else None


def cut_code(block: str) -> tuple[str, str] | None:
    """Long code in two, each with the line that opens its fence; None if it is not long."""
    opening, *lines = block.split("\n")
    if len(lines) <= MOST_LINES:
        return None
    place = len(lines) - CONTEXT_LINES
    # Empty lines at an edge are not shown, and would be missed when rows are counted.
    while place and not (lines[place - 1].strip() and lines[place].strip()):
        place -= 1
    if not place:
        return None
    return "\n".join([opening, *lines[:place]]), "\n".join([opening, *lines[place:]])


def _begins_item(line: str, indent: str) -> bool:
    found = _ITEM.match(line)
    return found is not None and found[1] == indent


Row = list[Segment]

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
        line = self._line.rstrip()
        self._line = ""
        if line:
            self._console.print(Text(line), soft_wrap=False)


class MarkdownReply:
    """Block by block, rendered. A block taller than the screen is printed as it grows."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._block = ""
        self._lines_seen = 0
        """Lines of the block when it was last looked at whether it is too tall."""
        self._width = 0
        self._printed = 0
        """Rows of the block that were printed already, at this width."""
        self._follows = False
        """Whether a block of the same reply was printed before."""
        self._continues = False
        """Whether the block is the rest of the one before."""

    @property
    def is_begun(self) -> bool:
        """Whether a block was printed or is being written."""
        return self._follows or bool(self._block.strip())

    def feed(self, text: str) -> None:
        """Take a piece, and print the blocks before the one that it belongs to."""
        from amplifier_hooks.cli.display.markdown_text import split_blocks

        self._block = (self._block + text).lstrip("\n")
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
        return [*self._make_gap(rows), *rows][-_count_room(self._console) :]

    def flush(self) -> None:
        """Print the rest of the block; what comes then is another reply."""
        self.feed("\n")
        self._end_block()
        self._follows = False

    def _end_block(self) -> None:
        self._print(self._render()[self._printed :])
        self._block = ""
        self._lines_seen = 0
        self._printed = 0
        self._continues = False

    def _print_tall(self) -> None:
        """Print the beginning of a growing block that the screen has no room for."""
        lines = self._block.count("\n")
        room = _count_room(self._console)
        if lines - self._lines_seen <= room:
            return
        self._lines_seen = lines - room // 2
        if is_fence(self._block):
            self._print_code(room // 2)
        elif halves := cut_block(self._block, room // 2):
            self._block = halves[0]
            self._print(self._render())
            self._block = halves[1]
            self._continues = True
            self._lines_seen = 0

    def _print_code(self, keep: int) -> None:
        rows = self._render()
        until = max(self._printed, len(rows) - keep)
        self._print(rows[self._printed : until])
        self._printed = until
        halves = cut_code(self._block)
        if halves is None:
            return
        before = len(render_rows(halves[0], self._console, self._width))
        if before <= self._printed:
            self._block = halves[1]
            self._printed -= before
            self._continues = True
            self._lines_seen = max(0, self._block.count("\n") - keep)

    def _render(self) -> list[Row]:
        if not self._block.strip():
            return []
        # Rows are counted, so a block keeps the width with which it was begun to be printed.
        if not (self._printed or self._continues):
            self._width = self._console.width
        return render_rows(self._block, self._console, self._width)

    def _print(self, rows: list[Row]) -> None:
        if rows:
            self._console.print(Rows([*self._make_gap(rows), *rows]), end="")
            self._follows = True

    def _make_gap(self, rows: list[Row]) -> list[Row]:
        """An empty row between this block and the one before."""
        is_new = not (self._printed or self._continues)
        return [[]] if self._follows and is_new and rows else []


def render_rows(text: str, console: Console, width: int) -> list[Row]:
    """The rows of a text in Markdown; what renders it is imported when there is something."""
    from amplifier_hooks.cli.display.markdown_text import render_markdown

    return render_markdown(text, console, width)


def _count_room(console: Console) -> int:
    return max(3, console.height - _SPARE_ROWS)


def make_reply(console: Console) -> ReplyText:
    """Rendered where there are colours; else the text as the model wrote it."""
    if console.is_terminal and not console.no_color:
        return MarkdownReply(console)
    return PlainReply(console)
