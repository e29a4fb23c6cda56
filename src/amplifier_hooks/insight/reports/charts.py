"""Charts as SVG: bars, and a time line with a lane for each kind of thing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise

from amplifier_hooks.insight.reports.document import Bar, Bars, Lane, Timeline
from amplifier_hooks.insight.reports.markup import Markup, element, join, text
from amplifier_hooks.insight.reports.wording import format_seconds

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
        left, right = _place(start, stretches), _place(end, stretches)
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
