"""Markdown as rows of a terminal: what a model wrote, and nothing that it could hide in it."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import ClassVar

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich import markdown
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax

from amplifier_hooks.text.escape import ESCAPED, escape

Row = list[Segment]

_ESCAPES = re.compile(f"({ESCAPED.pattern})")
_CODE_INDENT = 2
_CODE_THEME = "ansi_dark"  # the terminal's own colours, which suit its background


def split_blocks(text: str) -> tuple[list[str], str]:
    """The blocks of a text that nothing to come can change, and the one being written."""
    starts = [
        token.map[0]
        for token in _parse(text)
        if token.map is not None and token.level == 0 and token.nesting >= 0
    ]
    lines = text.split("\n")
    edges = [0, *starts[1:]]
    whole = ["\n".join(lines[a:b]) for a, b in pairwise(edges)]
    return whole, "\n".join(lines[edges[-1] :])


def render_markdown(text: str, console: Console, width: int) -> list[Row]:
    """The rows of a text, none wider than this; text that cannot be rendered stays as it is."""
    options = console.options.update(width=max(1, width), no_wrap=False, overflow="fold")
    rows = console.render_lines(_Markdown(text), options, pad=False)
    return _trim([_clean(row) for row in rows])


@cache
def _make_parser() -> MarkdownIt:
    """Without HTML, which would vanish, and entities, which could become any character."""
    parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
    return parser.disable("entity")


def _parse(text: str) -> list[Token]:
    return _make_parser().parse(text)


class _Heading(markdown.Heading):
    """Where the text is, not in the middle."""

    LEVEL_ALIGN: ClassVar = dict.fromkeys(markdown.Heading.LEVEL_ALIGN, "left")


class _CodeBlock(markdown.CodeBlock):
    """Indented, on the terminal's own background."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        if not code:
            return
        if self.lexer_name == "text":
            self.text.rstrip()
            yield from _indent(console, options, self.text)
            return
        syntax = Syntax(
            code, self.lexer_name, theme=_CODE_THEME, word_wrap=True, background_color="default"
        )
        yield from _indent(console, options, syntax)


def _indent(console: Console, options: ConsoleOptions, content: object) -> RenderResult:
    room = options.update(width=max(1, options.max_width - _CODE_INDENT))
    for row in console.render_lines(content, room, pad=False):  # type: ignore[arg-type]
        yield Segment(" " * _CODE_INDENT)
        yield from row
        yield Segment.line()


class _Markdown(markdown.Markdown):
    """What rich makes of it, with the lines that the model wrote and addresses in full."""

    elements: ClassVar = {
        **markdown.Markdown.elements,
        "heading_open": _Heading,
        "fence": _CodeBlock,
        "code_block": _CodeBlock,
    }

    def __init__(self, text: str) -> None:
        super().__init__("", hyperlinks=False)
        self.parsed = _parse(text)
        for token in self.parsed:
            if token.children:
                # The text of a bare address is the address: once is enough.
                token.children = [one for one in token.children if one.markup != "autolink"]
            for child in token.children or ():
                if child.type == "softbreak":
                    child.type = "hardbreak"


def _clean(row: Row) -> Row:
    """What an address or a number stood for may be any character, so each is looked at again."""
    pieces = [Segment(_escape_rest(one.text), one.style) for one in row if not one.control]
    while pieces and not _paints_blanks(pieces[-1].style):
        last = pieces.pop()
        if kept := last.text.rstrip():
            return [*pieces, Segment(kept, last.style)]
    return pieces


def _escape_rest(text: str) -> str:
    """Escape what is not escaped yet."""
    if text.isascii() and text.isprintable():
        return text
    parts = _ESCAPES.split(text)
    return "".join(escape(part) if place % 2 == 0 else part for place, part in enumerate(parts))


def _paints_blanks(style: Style | None) -> bool:
    if style is None:
        return False
    paints = style.bgcolor is not None and not style.bgcolor.is_default
    return paints or bool(style.underline or style.reverse)


def _trim(rows: list[Row]) -> list[Row]:
    """Without empty rows at either end."""
    while rows and not rows[0]:
        rows = rows[1:]
    while rows and not rows[-1]:
        rows = rows[:-1]
    return rows
