"""Bars."""

from __future__ import annotations

import re

from amplifier_hooks.insight.reports.rendering.bar_chart import draw_bars
from amplifier_hooks.insight.reports.telling.document import Bar, Bars


def test_bars_are_in_proportion_and_say_their_figures() -> None:
    """The longest takes the room; a part of nothing is not drawn."""
    bars = (Bar("long", (8.0, 2.0), "ten"), Bar("short", (0.0, 5.0)))
    drawn = draw_bars(Bars("Chart", (("denied", "bad"), ("asked", "warn")), bars))
    widths = [float(one) for one in re.findall(r' width="([\d.]+)"', drawn)]
    assert len(widths) == 3
    assert abs(widths[0] + widths[1] - 2 * widths[2]) < 0.1
    assert "10 · ten" in drawn
    assert drawn.count("swatch") == 2


def test_a_long_label_is_cut_and_nothing_is_divided_by_zero() -> None:
    """A chart of zeros can be drawn."""
    drawn = draw_bars(Bars("Chart", (("x", "note"),), (Bar("n" * 80, (0.0,)),)))
    assert "n" * 29 + "…" in drawn
    assert "swatch" not in drawn
