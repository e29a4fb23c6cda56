"""The help of a command: coloured like the rest, as wide as the terminal, nothing cut off."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import cleandoc

import click

from amplifier_hooks.cli.text.output import get_width, paint

WIDEST = 80
_GAP = 2
_ROOM_BESIDE = 20
"""With less of it beside the name of the command, click writes the arguments below."""


class HelpPage(click.HelpFormatter):
    """Click's help, with our styles; at any width no line is longer than the terminal."""

    def __init__(self) -> None:
        super().__init__(width=max(min(get_width(), WIDEST) - 2, 20))

    def write_usage(self, prog: str, args: str = "", prefix: str | None = None) -> None:
        """Write how the command is called."""
        title = "Usage: "
        room = self.width - self.current_indent - len(f"{title}{prog} ")
        shown = _paint("tool", prog)
        painted = _paint("title", title.strip()) + " "
        # Only what click would leave in one line: what breaks lines takes long to import.
        if not self.current_indent and room >= _ROOM_BESIDE and _fits(args, room):
            self.write(f"{painted}{shown} {args}\n")
        else:
            super().write_usage(shown, args, painted)

    def write_text(self, text: str) -> None:
        """Write paragraphs."""
        if _fits(text, self.width - self.current_indent):
            self.write(f"{'':>{self.current_indent}}{text}\n")
        else:
            super().write_text(text)

    def write_heading(self, heading: str) -> None:
        """Write the title of a section."""
        self.write(f"{'':>{self.current_indent}}{_paint('title', heading + ':')}\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = _GAP
    ) -> None:
        """Write terms with what they mean beside them, or below where there is no room."""
        rows = list(rows)
        column = min(max(len(term) for term, _ in rows), col_max, self.width // 3) + col_spacing
        for term, meaning in rows:
            self._write_term(term, meaning, column)

    def _write_term(self, term: str, meaning: str, column: int) -> None:
        indent = " " * self.current_indent
        room = self.width - len(indent) - column
        lines = _wrap(meaning, room)
        if len(term) + _GAP <= column:
            beside = lines.pop(0) if lines else ""
            self.write(f"{indent}{_paint('key', term)}{' ' * (column - len(term))}{beside}\n")
        else:
            for row in _wrap(term, self.width - len(indent)):
                self.write(f"{indent}{_paint('key', row)}\n")
        for line in lines:
            self.write(f"{indent}{' ' * column}{line}\n")

    def write_epilog(self, epilog: str) -> None:
        """Write what stands at the end: texts, and lists of examples behind a title."""
        text = cleandoc(epilog.replace("\b\n", ""))
        for paragraph in text.split("\n\n") if text else ():
            first, *others = paragraph.split("\n")
            self.write("\n")
            if first.endswith(":") and others:
                self.write_heading(first.removesuffix(":"))
                self.write("".join(f"{row}\n" for row in self._lay_out_examples(others)))
            else:
                rows = _wrap(" ".join(paragraph.split()), self.width)
                self.write("".join(f"{row}\n" for row in rows))

    def _lay_out_examples(self, lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            command, remark = _split_example(line.strip(" "))
            if not command:
                continue
            if len(f"  {command}{remark}") <= self.width:
                yield f"  {_paint('tool', command)}{_paint('dim', remark)}"
                continue
            yield from self._break_command(command)
            rows = _wrap(remark.strip(), self.width - 6)
            yield from (f"      {_paint('dim', one)}" for one in rows)

    def _break_command(self, command: str) -> Iterator[str]:
        """A command over several lines, which can still be pasted."""
        from shlex import split

        row = ""
        indent = "  "
        for word in split(command, posix=False):
            longer = f"{row} {word}".strip()
            if row and len(indent) + len(longer) + 2 > self.width:
                yield f"{indent}{_paint('tool', row)} \\"
                row = word
                indent = "      "
            else:
                row = longer
        yield f"{indent}{_paint('tool', row)}"


def _split_example(line: str) -> tuple[str, str]:
    """A command, and the remark behind it: after two spaces, or a `#` as in a shell."""
    ends = [at for sign in ("  ", " # ") if (at := line.find(sign)) > 0]
    end = min(ends, default=len(line))
    return line[:end], line[end:]


def _fits(text: str, room: int) -> bool:
    return 0 < len(text) <= room and text.isprintable() and text == text.strip()


def _wrap(text: str, room: int) -> list[str]:
    """Break lines as `textwrap` does, which takes long to import: usual words need none of it."""
    if not text:
        return []
    room = max(room, 10)
    words = text.split(" ")
    if not text.isprintable() or "" in words or max(map(len, words)) > room:
        from textwrap import wrap

        return wrap(text, room, break_on_hyphens=False)
    lines = [words[0]]
    for word in words[1:]:
        longer = f"{lines[-1]} {word}"
        if len(longer) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _paint(style: str, text: str) -> str:
    return paint([(style, text)]) if text.strip() else text
