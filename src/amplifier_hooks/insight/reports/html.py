"""A report as one file of HTML: no script, no network, readable on paper."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from amplifier_hooks.insight.reports.charts import draw_bars, draw_timeline
from amplifier_hooks.insight.reports.document import (
    Bars,
    Block,
    Bullets,
    Card,
    Chapter,
    Code,
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
    Tile,
    Tiles,
    Timeline,
)
from amplifier_hooks.insight.reports.markup import Markup, element, isolate, join, text

POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""What the page may load: nothing but its own styles."""


def render_html(document: Document) -> str:
    """The whole page."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="robots", content="noindex"),
        element("title", f"Report: {document.title}"),
        element("style", Markup(_read_style())),
    )
    body = element("body", element("main", *map(_render, document.blocks)))
    return f"<!doctype html>\n{element('html', head, body, lang='en')}\n"


@cache
def _read_style() -> str:
    return files(__package__).joinpath("style.css").read_text("utf-8")


# Sentences


def _render_parts(parts: Parts) -> Markup:
    return join(_render_inline(one) for one in parts)


def _render_inline(one: Inline) -> Markup:
    match one:
        case Code():
            return element("code", isolate(one.text))
        case Quoted():
            return Markup(f"“{isolate(' '.join(one.text.split()))}”")
        case Marked(tone="strong"):
            return element("strong", isolate(one.text))
        case Marked():
            return element("span", isolate(one.text), class_=f"mark {one.tone}")
        case Link():
            return element("a", one.text, href=f"#{one.anchor}")
    return text(one)


# Blocks


def _render(block: Block) -> Markup:
    return _RENDERERS[type(block)](block)


def _render_heading(one: Heading) -> Markup:
    return element(f"h{one.level}", isolate(one.text), id=one.anchor or None)


def _render_paragraph(one: Paragraph) -> Markup:
    return element("p", _render_parts(one.parts), class_=one.tone)


def _render_bullets(one: Bullets) -> Markup:
    return element("ul", *(element("li", _render_parts(parts)) for parts in one.items))


def _render_facts(one: Facts) -> Markup:
    pairs = (
        join((element("dt", name), element("dd", _render_parts(parts)))) for name, parts in one.rows
    )
    return element("dl", *pairs)


def _render_tiles(one: Tiles) -> Markup:
    return element("div", *map(_render_tile, one.tiles), class_="tiles")


def _render_tile(tile: Tile) -> Markup:
    return element(
        "div",
        element("b", tile.figure),
        element("span", tile.label),
        element("small", tile.detail) if tile.detail else Markup(),
        class_=f"tile {tile.tone}" if tile.tone else "tile",
    )


def _render_table(one: Table) -> Markup:
    def name_class(index: int) -> str | None:
        column = one.columns[index]
        return "number" if column.number else "short" if column.short else None

    head = (
        element("th", column.title, class_=name_class(index), scope="col")
        for index, column in enumerate(one.columns)
    )
    rows = (
        element(
            "tr",
            *(
                element("td", _render_parts(parts), class_=name_class(index))
                for index, parts in enumerate(row)
            ),
        )
        for row in one.rows
    )
    table = element("table", element("thead", element("tr", *head)), element("tbody", *rows))
    return element("div", table, class_="wide")


def _render_listing(one: Listing) -> Markup:
    body = text(one.excerpt.text.replace("\r\n", "\n"), lines=True)
    more = one.excerpt.left_out
    cut = element("small", f"… {more:,} more characters") if more else Markup()
    label = element("figcaption", isolate(one.label))
    return element("figure", label, element("pre", body, cut), class_="listing")


def _render_folded(one: Folded) -> Markup:
    summary = element("summary", _render_parts(one.summary))
    return element("details", summary, *map(_render, one.body))


def _render_card(one: Card) -> Markup:
    return element(
        "div", *map(_render, one.blocks), class_=f"card {one.tone}" if one.tone else "card"
    )


def _render_chapter(one: Chapter) -> Markup:
    return element("section", *map(_render, one.blocks), class_="chapter")


_RENDERERS: dict[type, Callable[[Any], Markup]] = {
    Heading: _render_heading,
    Paragraph: _render_paragraph,
    Bullets: _render_bullets,
    Facts: _render_facts,
    Tiles: _render_tiles,
    Table: _render_table,
    Listing: _render_listing,
    Folded: _render_folded,
    Card: _render_card,
    Bars: draw_bars,
    Timeline: draw_timeline,
    Chapter: _render_chapter,
}
