"""Lines of escaped, styled text, and their wrapping to a width in terminal cells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from amplifier_hooks.text.escape import ESCAPED, TAB, escape

ELLIPSIS = "…"


def count_cells(text: str) -> int:
    """How many cells an escaped text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def cut_end(text: str, room: int) -> str:
    """As much of a text's start as fits into so many cells, with a sign where more follows."""
    if count_cells(text) <= room:
        return text
    room -= count_cells(ELLIPSIS)
    kept = 0
    for character in text:
        room -= count_cells(character)
        if room < 0:
            break
        kept += 1
    return text[:kept] + ELLIPSIS


def cut_start(text: str, room: int) -> str:
    """As much of a text's end as fits into so many cells, with a sign where more came before."""
    return cut_end(text[::-1], room)[::-1]


Fragment = tuple[str, str]
"""A style of the table in `styles`, and a text."""
Line = tuple[Fragment, ...]

GUTTER = "│ "
CONTINUED = "╎ "
PROSE_LENGTH = 4_000  # a longer line is no prose, and each row costs a look at the rest

_ESCAPES = re.compile(f"(?:{ESCAPED.pattern})+")


def escape_lines(text: str, style: str = "") -> list[Line]:
    """Foreign text as lines; what had to be escaped stands out."""
    return [tuple(_mark(line, style)) for line in escape(text, lines=True).split("\n")]


def escape_line(text: str, style: str = "") -> Line:
    """Foreign text that may not break the line."""
    return tuple(_mark(escape(text), style))


def _mark(escaped: str, style: str) -> Iterator[Fragment]:
    """Give the escapes in a text a style of their own."""
    position = 0
    for match in _ESCAPES.finditer(escaped):
        if match.start() > position:
            yield style, escaped[position : match.start()]
        yield "escape", match.group()
        position = match.end()
    if position < len(escaped) or not escaped:
        yield style, escaped[position:]


def to_ascii(line: Line) -> Line:
    """A line of escaped text for a terminal that has only ASCII; it can still be read back."""
    fragments: list[Fragment] = []
    for style, text in line:
        if style == "escape":
            fragments.append((style, text.replace(TAB, escape("\t", ascii_only=True))))
        else:
            fragments += _mark(escape(text, ascii_only=True), style)
    return tuple(fragments)


def join_text(line: Line) -> str:
    """A line without its styles."""
    return "".join(text for _, text in line)


def add_gutter(lines: Iterable[Line], width: int) -> list[Line]:
    """Lines behind a gutter that tells a wrapped line from a new one."""
    rows: list[Line] = []
    for line in lines:
        mark = GUTTER
        for row in wrap(line, max(1, width - len(GUTTER))):
            rows.append((("gutter", mark), *row))
            mark = CONTINUED
    return rows


def wrap_words(line: Line, width: int) -> list[Line]:
    """Like `wrap`, but breaks behind a space where there is one; no character is lost."""
    if sum(len(text) for _, text in line) > PROSE_LENGTH:
        return wrap(line, width)
    rows: list[Line] = []
    rest = line
    while len(found := wrap(rest, width)) > 1:
        first = join_text(found[0])
        keep = first.rfind(" ") + 1 or len(first)
        row, rest = _split(rest, keep)
        rows.append(row)
    return [*rows, *found]


def _split(line: Line, at: int) -> tuple[Line, Line]:
    """The first so many characters, and the others."""
    before: list[Fragment] = []
    after: list[Fragment] = []
    for style, text in line:
        taken = text[: max(0, at)]
        before += [(style, taken)] if taken else []
        after += [(style, text[len(taken) :])] if len(taken) < len(text) else []
        at -= len(taken)
    return tuple(before), tuple(after)


def wrap(line: Line, width: int) -> list[Line]:
    """The rows that a line takes; nothing is cut off, and no row is wider than the screen."""
    if all(text.isascii() for _, text in line):
        return _wrap_narrow(line, width)
    return _wrap_wide(line, width)


def _wrap_narrow(line: Line, width: int) -> list[Line]:
    """Every character is one cell: slices will do, which matters for a line of a megabyte."""
    rows: list[list[Fragment]] = [[]]
    room = width
    for style, text in line:
        start = 0
        while start < len(text):
            if room == 0:
                rows.append([])
                room = width
            piece = text[start : start + room]
            rows[-1].append((style, piece))
            start += len(piece)
            room -= len(piece)
    return [tuple(row) for row in rows]


def _wrap_wide(line: Line, width: int) -> list[Line]:
    # What draws the question must agree with us on the width of every character.
    from prompt_toolkit.utils import get_cwidth

    rows: list[list[Fragment]] = [[]]
    room = width
    for style, text in line:
        piece = ""
        for character in text:
            cells = get_cwidth(character)
            if cells > room:
                rows[-1].append((style, piece))
                rows.append([])
                piece = ""
                room = width
            piece += character
            room -= cells
        rows[-1].append((style, piece))
    return [tuple(fragment for fragment in row if fragment[1]) for row in rows]
