"""Tables and figures."""

from __future__ import annotations

from amplifier_hooks.insight.reports.rendering.html_page import render_html
from amplifier_hooks.insight.reports.rendering.markdown import render_markdown
from amplifier_hooks.insight.reports.telling.document import (
    Column,
    Document,
    Facts,
    Table,
    Tile,
    Tiles,
)


def test_numbers_stand_at_the_right() -> None:
    """In both formats."""
    columns = (Column("Name"), Column("Calls", number=True), Column("Day", short=True))
    document = Document("t", (Table(columns, ((("a",), ("7",), ("b",)),)),))
    page = render_html(document)
    assert '<td class="number">7</td><td class="short">b</td>' in page
    assert render_markdown(document) == (
        "| Name | Calls | Day |\n| --- | ---: | --- |\n| a | 7 | b |\n"
    )


def test_facts_and_tiles_keep_names_and_figures_together() -> None:
    """In both formats."""
    facts, tiles = Facts((("By", ("ann",)),)), Tiles((Tile("3", "denied", "times", "bad"),))
    document = Document("t", (facts, tiles))
    assert "<dt>By</dt><dd>ann</dd>" in render_html(document)
    assert '<div class="tile bad"><b>3</b><span>denied</span>' in render_html(document)
    assert render_markdown(document) == "- By: ann\n\n- **3 denied** (times)\n"
