"""Bars as SVG: one below the other, each made of the parts of its series."""

from __future__ import annotations

from amplifier_hooks.insight.reports.rendering.elements import Markup, element, join, text
from amplifier_hooks.insight.reports.telling.document import Bar, Bars

_WIDTH = 720
_LABEL = 210
_ROW = 22
_BAR = 14
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
    left = float(_LABEL)
    scale = (_WIDTH - _LABEL - _ROOM) / most
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
                height=float(_BAR),
                class_=f"fill-{tone}",
            )
        )
        left += wide
    total = f"{sum(bar.values):,.0f}"
    note = f"{total} · {bar.detail}" if bar.detail else total
    baseline = float(top + _BAR - 3)
    label = element("text", _cut(bar.label), x=_LABEL - 8.0, y=baseline, text_anchor="end")
    figure = element("text", _cut(note), x=left + 6, y=baseline, class_="quiet")
    return join((label, *parts, figure))


def _cut(label: str) -> Markup:
    return text(label if len(label) <= _LONGEST_LABEL else f"{label[: _LONGEST_LABEL - 1]}…")
