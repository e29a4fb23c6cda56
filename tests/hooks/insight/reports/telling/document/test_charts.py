"""Charts as tables, where nothing can be drawn."""

from __future__ import annotations

from amplifier_hooks.insight.reports.rendering.markdown import render_markdown
from amplifier_hooks.insight.reports.telling.document import Document
from amplifier_hooks.insight.reports.telling.document.charts import Bar, Bars, Lane, Timeline


def test_a_chart_whose_figures_stand_in_no_table_becomes_one() -> None:
    """One beside a table is left out."""
    bars = (Bar("Turn 1", (5.0,), "$0.01"),)
    alone = Bars("Tokens", (("tokens", "note"),), bars, alone=True)
    beside = Bars("Tokens", (("tokens", "note"),), bars)
    assert "| Turn 1 | 5 | \\$0.01 |" in render_markdown(Document("t", (alone,)))
    assert render_markdown(Document("t", (beside,))) == "\n"


def test_a_time_line_becomes_its_sums() -> None:
    """How often, and how long."""
    lanes = (Lane("Tools", "good", ((0.0, 2.0), (4.0, 5.0))),)
    written = render_markdown(Document("t", (Timeline("Time line", lanes),)))
    assert "| Tools | 2 | 3 s |" in written
