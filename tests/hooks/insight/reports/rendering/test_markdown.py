"""Reports as Markdown."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.excerpts import Excerpt
from amplifier_hooks.insight.reports.rendering.markdown import render_markdown
from amplifier_hooks.insight.reports.telling.document import (
    Bullets,
    Card,
    Chapter,
    Code,
    Column,
    Document,
    Folded,
    Heading,
    Listing,
    Paragraph,
    Table,
)
from amplifier_hooks.insight.reports.telling.report import tell_report
from tests.hooks.cli.hostile_text import hostile
from tests.hooks.insight.reports.stories import report_on, tell_whole_story

ATTACKS = [
    "a | b | c\n| d |",
    "```\n# title",
    "<script>x</script>",
    "[x](http://e.example)",
    "\n---\n",
]


def list_lines(written: str) -> list[str]:
    """The lines outside of fenced blocks."""
    fence, lines = "", []
    for line in written.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```") and line.endswith("`text"):
            fence = line.removesuffix("text")
        else:
            lines.append(line)
    assert not fence
    return lines


@settings(max_examples=12, deadline=None)
@given(st.one_of(st.sampled_from(ATTACKS), hostile.filter(str.strip)))
def test_no_text_makes_a_heading_or_a_row(text: str) -> None:
    """Headings and rows are those of a harmless text."""
    written = list_lines(render_markdown(tell_report(report_on(tell_whole_story(text)))))
    plain = list_lines(render_markdown(tell_report(report_on(tell_whole_story("words")))))
    for sign in ("#", "|", "---"):
        assert sum(one.startswith(sign) for one in written) == sum(
            one.startswith(sign) for one in plain
        )
    bars = {one.replace(r"\|", "").count("|") for one in written if one.startswith("|")}
    assert bars == {one.count("|") for one in plain if one.startswith("|")}


def test_blocks_stand_apart() -> None:
    """One empty line between them, also inside of chapters and cards."""
    listing = Listing("Input", Excerpt("x\n\n\ny", 9))
    blocks = (
        Heading(2, "Title"),
        Folded(("sum",), (listing,)),
        Card((Paragraph(("a",)),)),
        Chapter((Bullets((("b",), ("c",))),)),
        Table((Column("N"),), (((Code("x|y"),),),)),
    )
    assert render_markdown(Document("t", blocks)) == (
        "## Title\n\n- sum\n\nInput:\n\n```text\nx\n\n\ny\n```\n\n… 9 more characters\n\n"
        "a\n\n---\n\n- b\n- c\n\n| N |\n| --- |\n| `x\\|y` |\n"
    )
