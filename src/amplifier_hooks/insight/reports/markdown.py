"""A report as Markdown, for tickets and pull requests; charts become tables.

Any text is written so that it is shown: no link, no tag, no end of a table's cell.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from amplifier_hooks.insight.reports.document import (
    Bars,
    Block,
    Bullets,
    Card,
    Chapter,
    Code,
    Column,
    Document,
    Facts,
    Folded,
    Heading,
    Inline,
    Link,
    Listing,
    Marked,
    Paragraph,
    Parts,
    Quoted,
    Table,
    Tiles,
    Timeline,
    format_seconds,
)
from amplifier_hooks.text.escape import escape

Lines = Iterator[str]


def render_markdown(document: Document) -> str:
    """The whole report."""
    return "\n".join(_render_all(document.blocks)) + "\n"


def _render_all(blocks: Iterable[Block]) -> Lines:
    """Blocks one after another, with an empty line between them."""
    is_first = True
    for block in blocks:
        if lines := [*_RENDERERS[type(block)](block)]:
            yield from lines if is_first else ["", *lines]
            is_first = False


# Sentences


def _render_parts(parts: Parts, *, in_table: bool = False) -> str:
    return "".join(_render_inline(one, in_table) for one in parts).strip()


def _render_inline(one: Inline, in_table: bool) -> str:
    match one:
        case Code():
            return write_code(one.text, in_table=in_table)
        case Quoted():
            return f"“{_write_foreign(' '.join(one.text.split()), in_table)}”"
        case Marked(tone="dim"):
            return _write_foreign(one.text, in_table)
        case Marked():
            inner = _write_foreign(one.text.strip(), in_table)
            return f"**{inner}** " if one.text.endswith(" ") else f"**{inner}**"
        case Link():
            return _write_foreign(one.text, in_table)
    return _keep_ends(one, in_table)


def _write_foreign(text: str, in_table: bool) -> str:
    written = write_prose(text)
    return write_code(text, in_table=True) if in_table and written.startswith("`") else written


def _keep_ends(text: str, in_table: bool) -> str:
    """Words of ours, with the blanks around them."""
    inner = text.strip(" ")
    if not inner:
        return text
    start = text[: len(text) - len(text.lstrip(" "))]
    return f"{start}{_write_foreign(inner, in_table)}{text[len(text.rstrip(' ')) :]}"


# Blocks


def _render_heading(one: Heading) -> Lines:
    yield f"{'#' * one.level} {write_prose(one.text)}"


def _render_paragraph(one: Paragraph) -> Lines:
    if not any(isinstance(part, Link) for part in one.parts):  # there is nothing to jump to
        yield _render_parts(one.parts)


def _render_bullets(one: Bullets) -> Lines:
    yield from (f"- {_render_parts(parts)}" for parts in one.items)


def _render_facts(one: Facts) -> Lines:
    yield from (f"- {write_prose(name)}: {_render_parts(parts)}" for name, parts in one.rows)


def _render_tiles(one: Tiles) -> Lines:
    for tile in one.tiles:
        detail = f" ({write_prose(tile.detail)})" if tile.detail else ""
        yield f"- **{write_prose(tile.figure)} {write_prose(tile.label)}**{detail}"


def _render_table(one: Table) -> Lines:
    yield f"| {' | '.join(write_prose(column.title) for column in one.columns)} |"
    yield f"| {' | '.join('---:' if column.number else '---' for column in one.columns)} |"
    for row in one.rows:
        yield f"| {' | '.join(_render_parts(parts, in_table=True) or ' ' for parts in row)} |"


def _render_listing(one: Listing) -> Lines:
    yield f"{write_prose(one.label)}:"
    yield ""
    yield from write_block(one.excerpt.text)
    if one.excerpt.left_out:
        yield ""
        yield f"… {one.excerpt.left_out:,} more characters"


def _render_folded(one: Folded) -> Lines:
    yield f"- {_render_parts(one.summary)}"
    if one.body:
        yield ""
        yield from _render_all(one.body)


def _render_card(one: Card) -> Lines:
    yield from _render_all(one.blocks)
    yield from ("", "---")


def _render_chapter(one: Chapter) -> Lines:
    yield from _render_all(one.blocks)


def _render_bars(one: Bars) -> Lines:
    """A chart whose figures stand in no table."""
    if one.alone:
        names = tuple(Column(name, number=True) for name, _ in one.series)
        rows = tuple(
            ((bar.label,), *((f"{value:,.0f}",) for value in bar.values), (bar.detail,))
            for bar in one.bars
        )
        yield from _render_table(Table((Column(one.title), *names, Column("")), rows))


def _render_timeline(one: Timeline) -> Lines:
    rows = tuple(
        (
            (lane.title,),
            (f"{len(lane.spans):,}",),
            (format_seconds(sum(end - start for start, end in lane.spans)),),
        )
        for lane in one.lanes
    )
    columns = (Column("What"), Column("How often", number=True), Column("In all", number=True))
    yield from _render_table(Table(columns, rows))


_RENDERERS: dict[type, Callable[[Any], Lines]] = {
    Heading: _render_heading,
    Paragraph: _render_paragraph,
    Bullets: _render_bullets,
    Facts: _render_facts,
    Tiles: _render_tiles,
    Table: _render_table,
    Listing: _render_listing,
    Folded: _render_folded,
    Card: _render_card,
    Bars: _render_bars,
    Timeline: _render_timeline,
    Chapter: _render_chapter,
}


_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~&!$^=])")
_LIST = re.compile(r"^(\s*)([-+]|\d{1,9}[.)](?=\s|$))")
# Readers make links of these without being asked, and tell people whose names stand behind an @.
_LINKED = re.compile(r"://|www\.|@|\bmailto:|\bxmpp:|#\d", re.IGNORECASE)
_PIPE = "\\u{7C}"


def write_prose(text: str) -> str:
    """A sentence; one that a reader would make a link of is written as code."""
    shown = " ".join(escape(text.replace("\t", " ")).split(" "))
    if _LINKED.search(shown):
        return write_code(text)
    marked = _SPECIAL.sub(r"\\\1", shown)
    return _LIST.sub(lambda one: f"{one[1]}{one[2][:-1]}\\{one[2][-1]}", marked)


def write_code(text: str, *, in_table: bool = False) -> str:
    """Text on one line, as it is, between as many backticks as it takes."""
    shown = escape(text)
    if not shown.strip():
        return "(empty)" if not text else f"({len(text)} blanks)"
    if in_table:
        shown = _keep_in_cell(shown)
    fence = "`" * (_find_longest(shown) + 1)
    pad = " " if shown[0] in "` " or shown[-1] in "` " else ""
    return f"{fence}{pad}{shown}{pad}{fence}"


def _keep_in_cell(shown: str) -> str:
    """A bar ends a cell, except behind one backslash; behind two it does again."""
    return re.sub(r"(\\*)\|", lambda one: rf"{one[1]}{_PIPE}" if one[1] else r"\|", shown)


def write_block(text: str) -> list[str]:
    """Text of several lines, as it is, between fences that are longer than any in it."""
    shown = escape(text.replace("\r\n", "\n"), lines=True)
    fence = "`" * max(3, _find_longest(shown) + 1)
    return [f"{fence}text", *shown.split("\n"), fence]


def _find_longest(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
