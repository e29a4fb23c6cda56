"""Documents as HTML, as Markdown and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import pytest

from amplifier_hooks.insight.reports import FORMATS, html, markdown, render_report, report_session
from amplifier_hooks.insight.reports.document import (
    Bar,
    Bars,
    Block,
    Code,
    Column,
    Document,
    Facts,
    Inline,
    Lane,
    Link,
    Marked,
    Paragraph,
    Quoted,
    Table,
    Tile,
    Tiles,
    Timeline,
)
from amplifier_hooks.insight.reports.html import render_html
from amplifier_hooks.insight.reports.json_form import VERSION, to_json
from amplifier_hooks.insight.reports.markdown import render_markdown
from tests.hooks.insight.reports.stories import (
    MADE,
    SESSION,
    report_on,
    tell_whole_story,
    write_trail,
)


def test_every_kind_of_block_can_be_rendered_in_every_format() -> None:
    """A new kind of block that a format does not know would fail in front of a user."""
    kinds = set(get_args(Block))
    assert set(html._RENDERERS) == set(markdown._RENDERERS) == kinds


@pytest.mark.parametrize(
    ("part", "page_text", "written"),
    [
        ("words", "words", "words"),
        (Code("rm -r"), "<code><bdi>rm -r</bdi></code>", "`rm -r`"),
        (Quoted("no\n more"), "“<bdi>no more</bdi>”", "“no more”"),
        (Marked("Denied"), "<strong><bdi>Denied</bdi></strong>", "**Denied**"),
        (Marked("late", "warn"), '<span class="mark warn"><bdi>late</bdi></span>', "**late**"),
        (Link("Proof", "s1-proof"), '<a href="#s1-proof">Proof</a>', ""),
    ],
)
def test_each_part_has_its_look(part: Inline, page_text: str, written: str) -> None:
    """In HTML and in Markdown, where there is nothing to jump to."""
    document = Document("t", (Paragraph((part,)),))
    assert f"<p>{page_text}</p>" in render_html(document)
    assert render_markdown(document).strip() == written


COLUMNS = (Column("Name"), Column("Calls", number=True), Column("Day", short=True))
BARS = (Bar("Turn 1", (5.0,), "$0.01"),)
LANES = (Lane("Tools", "good", ((0.0, 2.0), (4.0, 5.0))),)


@pytest.mark.parametrize(
    ("block", "page_text", "written"),
    [
        # Numbers stand at the right.
        (
            Table(COLUMNS, ((("a",), ("7",), ("b",)),)),
            '<td class="number">7</td><td class="short">b</td>',
            "| Name | Calls | Day |\n| --- | ---: | --- |\n| a | 7 | b |\n",
        ),
        (Facts((("By", ("ann",)),)), "<dt>By</dt><dd>ann</dd>", "- By: ann\n"),
        (
            Tiles((Tile("3", "denied", "times", "bad"),)),
            '<div class="tile bad"><b>3</b><span>denied</span>',
            "- **3 denied** (times)\n",
        ),
        # A chart whose figures stand in no table becomes one, one beside a table is left out.
        (
            Bars("Tokens", (("tokens", "note"),), BARS, alone=True),
            "<svg",
            "| Turn 1 | 5 | \\$0.01 |\n",
        ),
        (Bars("Tokens", (("tokens", "note"),), BARS), "<svg", "\n"),
        # A time line becomes its sums: how often, and how long.
        (Timeline("Time line", LANES), "<svg", "| Tools | 2 | 3 s |\n"),
    ],
)
def test_each_block_has_its_look(block: Block, page_text: str, written: str) -> None:
    """In both formats; names and figures stay together."""
    document = Document("t", (block,))
    assert page_text in render_html(document)
    shown = render_markdown(document)
    assert shown.endswith(written)
    if written == "\n":
        assert shown == written


def test_the_shape_is_the_documented_one() -> None:
    """Names that are there today stay; a change of them is another version."""
    written = to_json(report_on(tell_whole_story()))
    assert VERSION == 1
    assert [*written] == [
        *(
            "version",
            "contradictions",
            "made",
            "since",
            "until",
            "totals",
            "sessions",
            "chapters",
            "unreadable",
        ),
        "empty",
    ]
    assert [*written["totals"]] == [
        *("sessions", "records", "first", "last", "turns", "calls", "tools", "questions"),
        *("waited_seconds", "interventions", "verdicts", "folders", "hooks", "days", "spending"),
    ]
    (chapter,) = written["chapters"]
    assert [*chapter] == [
        *("id", "name", "trail", "folder", "bundle", "level", "values", "shadow", "first", "last"),
        *("ending", "resumed", "records", "turns", "calls", "tools", "agents", "files", "hooks"),
        *(
            "interventions",
            "contradictions",
            "errors",
            "questions",
            "spending",
            "proof",
            "missing",
            "masked",
        ),
    ]


def test_everything_can_be_written_and_nothing_is_lost_on_the_way() -> None:
    """Counts say what was left out."""
    written = json.loads(json.dumps(to_json(report_on(tell_whole_story()))))
    chapter = written["chapters"][0]
    assert chapter["interventions"]["denial"]["count"] == 1
    assert chapter["interventions"]["denial"]["left_out"] == 0
    assert chapter["turns"]["kept"][0]["prompt"]["text"] == "fix the parser"
    kinds = {step["kind"] for step in chapter["turns"]["kept"][0]["steps"]["kept"]}
    assert kinds == {"call", "said"}
    assert chapter["questions"]["kept"][0]["outcome"] == "refused"
    assert chapter["proof"]["verdict"] == "unreadable"


def test_a_report_has_the_format_that_was_asked_for() -> None:
    """HTML, Markdown and JSON."""
    report = report_on(tell_whole_story())
    page, written, data = (render_report(report, one) for one in FORMATS)
    assert page.startswith("<!doctype html>")
    assert written.startswith("# Session")
    assert json.loads(data)["totals"]["sessions"] == 1


def test_the_report_of_one_session_needs_its_own_trail(tmp_path: Path) -> None:
    """One that lies in its place and is another's is not taken for it."""
    path = write_trail(tmp_path)
    own = report_session(path, "json", made=MADE, owner=SESSION, name="fix it")
    other = report_session(path, "json", made=MADE, owner="another")
    chapter = json.loads(own)["chapters"][0]
    assert (chapter["name"], chapter["proof"]["verdict"]) == ("fix it", "consistent")
    assert json.loads(other)["chapters"][0]["proof"]["verdict"] == "tampered"
