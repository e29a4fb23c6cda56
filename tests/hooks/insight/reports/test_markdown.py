"""Markdown, whatever stands in the texts."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.document import (
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
from amplifier_hooks.insight.reports.excerpts import Excerpt
from amplifier_hooks.insight.reports.markdown import (
    render_markdown,
    write_block,
    write_code,
    write_prose,
)
from amplifier_hooks.insight.reports.sections.report import describe_report
from tests.hooks.cli.hostile_text import hostile, is_harmless
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
    written = list_lines(render_markdown(describe_report(report_on(tell_whole_story(text)))))
    plain = list_lines(render_markdown(describe_report(report_on(tell_whole_story("words")))))
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


markdown = st.lists(
    st.one_of(st.sampled_from([*"`|\\<>[]()*_#~&!@", "``", "```", "\n", "www.", "://"]), hostile),
    max_size=10,
).map("".join)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("plain words", "plain words"),
        ("*a* _b_ [c](d) <e>", r"\*a\* \_b\_ \[c\](d) \<e\>"),
        ("a | b", r"a \| b"),
        ("- no list", r"\- no list"),
        ("1. no list", r"1\. no list"),
        ("0.5 ms", "0.5 ms"),
        ("see https://evil.example", "`see https://evil.example`"),
        ("ask @ann", "`ask @ann`"),
        ("# no title", r"\# no title"),
    ],
)
def test_prose_is_shown_as_it_is(text: str, written: str) -> None:
    """Nothing in it is a link, a list, a tag or a mention."""
    assert write_prose(text) == written


@settings(max_examples=25, deadline=None)
@given(markdown)
def test_no_text_ends_what_it_stands_in(text: str) -> None:
    """As code in a line and in a cell, as a block, and as prose."""
    check_code(write_code(text), text)
    cell = write_code(text, in_table=True)
    assert all(re.search(r"(?<!\\)\\$", cell[: one.start()]) for one in re.finditer(r"\|", cell))
    first, *lines, last = write_block(text)
    assert first == f"{last}text"
    assert all(last not in line for line in lines)
    assert is_harmless("\n".join(lines), lines=True)
    prose = write_prose(text)
    if not prose.startswith("`"):
        assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|~]", prose)
        assert "\n" not in prose


def check_code(written: str, text: str) -> None:
    """The fence is longer than any run of backticks inside; there is one line."""
    assert is_harmless(written)
    if not text.strip() or not written.startswith("`"):
        return
    fence = re.match("`+", written)[0]  # type: ignore[index]
    assert written.endswith(fence)
    inner = written[len(fence) : -len(fence)]
    assert len(fence) not in {len(run) for run in re.findall("`+", inner)}
