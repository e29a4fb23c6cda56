"""A report as one file of HTML: no script, no network, readable on paper; charts are SVG.

Texts become HTML in this file only, and every text that was not made here is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from amplifier_hooks.insight.reports.document import (
    Bar,
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
    Lane,
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
    format_seconds,
)
from amplifier_hooks.text.escape import ESCAPED, escape

_VOID = frozenset({"meta", "br", "hr"})
_ESCAPES = re.compile(f"(?:{ESCAPED.pattern})+")


class Markup(str):
    """HTML that was made here; every other text is escaped."""

    __slots__ = ()


def element(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """An element with its children; those that are text are escaped.

    An attribute's name has `_` for `-`, and one at its end if it is a word of Python.
    """
    start = f"<{name}{''.join(_write_attributes(attributes))}>"
    if name in _VOID:
        return Markup(start)
    return Markup(f"{start}{join(children)}</{name}>")


def _write_attributes(attributes: dict[str, str | float | bool | None]) -> Iterable[str]:
    for key, value in attributes.items():
        name = key.rstrip("_").replace("_", "-")
        if value is True:
            yield f" {name}"
        elif value is not None and value is not False:
            yield f' {name}="{html.escape(escape(_to_text(value)))}"'


def _to_text(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.2f}".rstrip("0").rstrip(".")


def join(children: Iterable[str]) -> Markup:
    """Children one after another."""
    return Markup("".join(one if isinstance(one, Markup) else text(one) for one in children))


def text(value: str, *, lines: bool = False) -> Markup:
    """Any text: its tags are no tags, and what would be hidden is shown and stands out."""
    escaped = escape(value, lines=lines)
    pieces: list[str] = []
    position = 0
    for match in _ESCAPES.finditer(escaped):
        pieces.append(html.escape(escaped[position : match.start()]))
        pieces.append(f'<span class="hidden">{html.escape(match.group())}</span>')
        position = match.end()
    pieces.append(html.escape(escaped[position:]))
    return Markup("".join(pieces))


def isolate(value: str) -> Markup:
    """Foreign text whose direction of writing does not reach beyond it."""
    return element("bdi", text(value))


_WIDTH = 720
_BAR_LABEL = 210
_ROW = 22
_BAR_HEIGHT = 14
_ROOM = 120
_LONGEST_LABEL = 30
"""Characters that fit before a bar, and after it."""


def draw_bars(chart: Bars) -> Markup:
    """The chart, with a legend if there are several series."""
    most = max((sum(bar.values) for bar in chart.bars), default=0) or 1
    height = _ROW * len(chart.bars) + 4
    rows = (_draw_bar(chart, bar, index, most) for index, bar in enumerate(chart.bars))
    svg = element(
        "svg",
        element("title", chart.title),
        *rows,
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=chart.title,
    )
    legend = _draw_legend(chart) if len(chart.series) > 1 else Markup()
    return element("figure", element("figcaption", chart.title), legend, svg, class_="chart")


def _draw_legend(chart: Bars) -> Markup:
    items = (
        element("span", element("i", class_=f"swatch fill-{tone}"), name, class_="key")
        for name, tone in chart.series
    )
    return element("div", *items, class_="legend")


def _draw_bar(chart: Bars, bar: Bar, index: int, most: float) -> Markup:
    top = index * _ROW + 2
    left = float(_BAR_LABEL)
    scale = (_WIDTH - _BAR_LABEL - _ROOM) / most
    parts: list[str] = []
    for value, (name, tone) in zip(bar.values, chart.series, strict=True):
        if value <= 0:
            continue
        wide = max(value * scale, 1.0)
        parts.append(
            element(
                "rect",
                element("title", f"{bar.label}: {value:,.0f} {name}"),
                x=left,
                y=float(top),
                width=wide,
                height=float(_BAR_HEIGHT),
                class_=f"fill-{tone}",
            )
        )
        left += wide
    total = f"{sum(bar.values):,.0f}"
    note = f"{total} · {bar.detail}" if bar.detail else total
    baseline = float(top + _BAR_HEIGHT - 3)
    label = element("text", _cut(bar.label), x=_BAR_LABEL - 8.0, y=baseline, text_anchor="end")
    figure = element("text", _cut(note), x=left + 6, y=baseline, class_="quiet")
    return join((label, *parts, figure))


def _cut(label: str) -> Markup:
    return text(label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…")


_LANE_LABEL = 130
_LANE = 26
_AXIS = 22
_PAUSE = 26
"""The width of a pause that was made short."""
_MOST_PAUSES = 8
_MOST_MARKS = 500
_TICKS = 5


@dataclass(frozen=True, slots=True)
class Stretch:
    """Time without a long pause, and where it lies on the picture."""

    start: float
    end: float
    left: float
    right: float


def draw_timeline(chart: Timeline) -> Markup:
    """The picture of all lanes."""
    stretches = lay_out([span for lane in chart.lanes for span in lane.spans])
    height = _LANE * len(chart.lanes) + _AXIS
    svg = element(
        "svg",
        element("title", chart.title),
        *(_draw_lane(lane, index, stretches) for index, lane in enumerate(chart.lanes)),
        *_draw_pauses(stretches, height),
        *_draw_axis(stretches, height),
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label=chart.title,
    )
    return element("figure", svg, element("figcaption", chart.note), class_="chart")


def lay_out(spans: Sequence[tuple[float, float]]) -> list[Stretch]:
    """Where each time lies: in proportion, except for pauses that are long beside the rest."""
    busy = _join_spans(sorted(spans))
    pieces = _split_at_pauses(busy)
    room = _WIDTH - _LANE_LABEL - 12 - _PAUSE * (len(pieces) - 1)
    total = sum(max(end - start, 0.001) for start, end in pieces)
    stretches: list[Stretch] = []
    left = float(_LANE_LABEL)
    for start, end in pieces:
        right = left + room * max(end - start, 0.001) / total
        stretches.append(Stretch(start, end, left, right))
        left = right + _PAUSE
    return stretches


def _join_spans(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    joined = [spans[0]]
    for start, end in spans[1:]:
        begun, ended = joined[-1]
        if start <= ended:
            joined[-1] = (begun, max(ended, end))
        else:
            joined.append((start, end))
    return joined


def _split_at_pauses(busy: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The time between the longest pauses, if they are long enough to hide the rest."""
    work = sum(end - start for start, end in busy)
    pauses = sorted(
        ((after[0] - before[1], index) for index, (before, after) in enumerate(pairwise(busy))),
        reverse=True,
    )
    long = {index for pause, index in pauses[:_MOST_PAUSES] if pause > max(work / 4, 1.0)}
    pieces = [busy[0]]
    for index, span in enumerate(busy[1:]):
        if index in long:
            pieces.append(span)
        else:
            pieces[-1] = (pieces[-1][0], span[1])
    return pieces


def _place(when: float, stretches: Sequence[Stretch]) -> float:
    for one in stretches:
        if when <= one.end:
            share = (max(when, one.start) - one.start) / max(one.end - one.start, 0.001)
            return one.left + share * (one.right - one.left)
    return stretches[-1].right


def _draw_lane(lane: Lane, index: int, stretches: Sequence[Stretch]) -> Markup:
    top = float(index * _LANE + 4)
    label = element(
        "text", lane.title, x=_LANE_LABEL - 8.0, y=top + _BAR_HEIGHT - 3, text_anchor="end"
    )
    ground = (
        element(
            "rect",
            x=one.left,
            y=top,
            width=one.right - one.left,
            height=float(_BAR_HEIGHT),
            class_="lane",
        )
        for one in stretches
    )
    marks = (
        _draw_mark(left, right, top, lane) for left, right in _merge_marks(lane.spans, stretches)
    )
    return join((label, *ground, *marks))


def _merge_marks(
    spans: Iterable[tuple[float, float]], stretches: Sequence[Stretch]
) -> list[tuple[float, float]]:
    """The marks of a lane; those that would touch become one, so that there are never too many."""
    marks: list[tuple[float, float]] = []
    nearest = (_WIDTH - _LANE_LABEL) / _MOST_MARKS
    for start, end in spans:
        left = _place(start, stretches)
        right = _place(end, stretches)
        if marks and left - marks[-1][1] < nearest and right - left > 0:
            marks[-1] = (marks[-1][0], max(marks[-1][1], right))
        elif not marks or left - marks[-1][0] >= nearest:
            marks.append((left, right))
    return marks


def _draw_mark(left: float, right: float, top: float, lane: Lane) -> Markup:
    return element(
        "rect",
        x=left,
        y=top,
        width=max(right - left, 2.5),
        height=float(_BAR_HEIGHT),
        class_=f"fill-{lane.tone}",
    )


def _draw_pauses(stretches: Sequence[Stretch], height: int) -> Iterator[Markup]:
    for before, after in pairwise(stretches):
        middle = (before.right + after.left) / 2
        title = element("title", f"{format_seconds(after.start - before.end)} without anything")
        yield element(
            "line",
            title,
            x1=middle,
            x2=middle,
            y1=2.0,
            y2=float(height - _AXIS),
            class_="pause",
        )


def _draw_axis(stretches: Sequence[Stretch], height: int) -> Iterator[Markup]:
    """Times below the lanes: where each stretch begins, and a few between."""
    last = float(-_WIDTH)
    for one in stretches:
        ticks = max(1, int(_TICKS * (one.right - one.left) / (_WIDTH - _LANE_LABEL)))
        for tick in range(ticks):
            left = one.left + (one.right - one.left) * tick / ticks
            if left - last < 64 or left > _WIDTH - 56:
                continue
            last = left
            when = one.start + (one.end - one.start) * tick / ticks
            yield element(
                "text", _format_tick(when, stretches), x=left, y=height - 6.0, class_="quiet"
            )


def _format_tick(when: float, stretches: Sequence[Stretch]) -> str:
    whole = stretches[-1].end - stretches[0].start
    moment = datetime.fromtimestamp(when, UTC)
    if whole > 86_400:
        return f"{moment:%d %b %H:%M}"
    return f"{moment:%H:%M:%S}" if whole > 10 else f"{moment:%H:%M:%S.%f}"[:10]


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
        if column.number:
            return "number"
        return "short" if column.short else None

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
