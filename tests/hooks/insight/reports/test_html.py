"""Pages, whatever stands in the texts."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.document import (
    Bar,
    Bars,
    Card,
    Document,
    Folded,
    Lane,
    Listing,
    Timeline,
)
from amplifier_hooks.insight.reports.excerpts import Excerpt
from amplifier_hooks.insight.reports.html import (
    POLICY,
    Markup,
    draw_bars,
    draw_timeline,
    element,
    isolate,
    join,
    lay_out,
    render_html,
    text,
)
from amplifier_hooks.insight.reports.sections.report import describe_report
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.hostile_text import BIDI, hostile, is_harmless
from tests.hooks.insight.reports.page_reader import Page
from tests.hooks.insight.reports.stories import report_on, tell_whole_story

ATTACKS = [
    "</pre></code></bdi><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<!-- --><style>*{display:none}</style>",
    "]]></svg><iframe src=javascript:alert(1)>",
    "&lt;b&gt; &#60; &amp;amp;",
    "</title></head><base href=//evil.example>",
    "x' onmouseover='alert(1)",
]


def render_story(text: str) -> Page:
    """A report in which this text stands wherever others write."""
    return Page(render_html(describe_report(report_on(tell_whole_story(text)))))


@cache
def render_plain() -> Page:
    """The same report on a session without a harmful word."""
    return render_story("words")


def list_elements(page: Page) -> Counter[str]:
    """The elements of a page, without those that mark hidden characters."""
    return Counter(one for one in page.skeleton if one not in ("span", "/"))


@settings(max_examples=12, deadline=None)
@given(st.one_of(st.sampled_from(ATTACKS), hostile.filter(str.strip)))
def test_no_text_changes_the_structure_of_the_page(text: str) -> None:
    """The elements are those of a harmless text, whatever stands in the trail."""
    page, plain = render_story(text), render_plain()
    assert page.attributes == plain.attributes
    assert list_elements(page) - list_elements(plain) <= Counter({"small": 99})
    assert not BIDI & set("".join(page.texts))


def test_every_attack_is_shown_as_it_is() -> None:
    """Readers see what the trail has."""
    for attack in ATTACKS:
        assert attack in "".join(render_story(attack).texts)


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    """No address leaves the page, and the policy forbids the rest."""
    page = render_html(describe_report(report_on(tell_whole_story())))
    assert POLICY.startswith("default-src 'none'")
    assert "default-src &#x27;none&#x27;; style-src &#x27;unsafe-inline&#x27;" in page
    assert "url(" not in page
    assert "@import" not in page
    read = Page(page)
    assert {"src", "style", "onclick"}.isdisjoint(read.attributes)
    assert read.links
    assert all(link.removeprefix("#") in read.ids for link in read.links)
    assert len(read.ids) == len(set(read.ids))


def test_a_cut_text_says_so() -> None:
    """With how much is missing."""
    page = render_html(Document("t", (Listing("Input", Excerpt("abc", 1_234)),)))
    assert "… 1,234 more characters" in page


def test_folded_parts_need_no_script() -> None:
    """The browser opens them by itself."""
    inner = Listing("Input", Excerpt("x\r\ny"))
    page = render_html(Document("t", (Folded(("sum",), (inner,)), Card((inner,), "bad"))))
    assert "<details><summary>sum</summary>" in page
    assert "<pre>x\ny</pre>" in page
    assert '<div class="card bad">' in page


@pytest.mark.parametrize(
    ("made", "markup"),
    [
        (element("p", "<b>&", class_="a"), '<p class="a">&lt;b&gt;&amp;</p>'),
        (element("p", element("b", "x")), "<p><b>x</b></p>"),
        (join(["<", Markup("<br>")]), "&lt;<br>"),
        # Quotes cannot end an attribute; one may be absent.
        (
            element("a", href='"><script>', id=None, hidden=True),
            '<a href="&quot;&gt;&lt;script&gt;" hidden></a>',
        ),
        (element("meta", http_equiv="X", x=1.50), '<meta http-equiv="X" x="1.5">'),
        # What would reorder or hide text is written down.
        (text("a\u202eb"), 'a<span class="hidden">\\u{202E}</span>b'),
        (text("a\nb", lines=True), "a\nb"),
        (isolate("<"), "<bdi>&lt;</bdi>"),
    ],
)
def test_only_what_was_made_here_is_markup(made: str, markup: str) -> None:
    """A text with a tag in it is a text."""
    assert made == markup


@settings(max_examples=25, deadline=None)
@given(hostile)
def test_any_text_stays_one_text(given_text: str) -> None:
    """Parsed again, it is what it was, and nothing in it is hidden."""
    page = Page(element("p", isolate(given_text), id=given_text))
    shown = "".join(page.texts)
    assert is_harmless(shown)
    assert unescape(shown) == given_text
    assert [one for one in page.skeleton if one != "/"] in (
        ["p", "bdi"],
        ["p", "bdi", *["span"] * page.skeleton.count("span")],
    )


def test_bars_are_in_proportion_and_say_their_figures() -> None:
    """The longest takes the room; a part of nothing is not drawn; a chart of zeros can be drawn."""
    bars = (Bar("long", (8.0, 2.0), "ten"), Bar("short", (0.0, 5.0)))
    drawn = draw_bars(Bars("Chart", (("denied", "bad"), ("asked", "warn")), bars))
    widths = [float(one) for one in re.findall(r' width="([\d.]+)"', drawn)]
    assert len(widths) == 3
    assert abs(widths[0] + widths[1] - 2 * widths[2]) < 0.1
    assert "10 · ten" in drawn
    assert drawn.count("swatch") == 2
    zeros = draw_bars(Bars("Chart", (("x", "note"),), (Bar("n" * 80, (0.0,)),)))
    assert "n" * 29 + "…" in zeros
    assert "swatch" not in zeros


span = st.tuples(st.floats(0, 1e6), st.floats(0, 1e4)).map(lambda one: (one[0], one[0] + one[1]))


def test_a_long_pause_takes_little_room() -> None:
    """Two minutes of work on two days are both visible; a short pause stays in proportion."""
    first, second = lay_out([(0.0, 60.0), (86_400.0, 86_460.0)])
    assert abs((first.right - first.left) - (second.right - second.left)) < 0.1
    assert second.left - first.right < 40
    assert len(lay_out([(0.0, 10.0), (11.0, 20.0)])) == 1


def test_points_are_visible_and_many_marks_become_few() -> None:
    """A denial has no length; a lane with ten thousand calls is a picture of a few kilobytes."""
    lanes = (
        Lane("Denied", "bad", ((5.0, 5.0),)),
        Lane("Tools", "good", ((0.0, 6.0), (9e5, 9e5 + 6))),
    )
    drawn = draw_timeline(Timeline("Time", lanes, "a note"))
    assert 'width="2.5"' in drawn
    assert "10 d 9 h without anything" in drawn
    assert "a note" in drawn
    spans = tuple((float(one), one + 0.5) for one in range(10_000))
    assert draw_timeline(Timeline("Time", (Lane("Tools", "good", spans),))).count("<rect") < 510


@settings(max_examples=20, deadline=None)
@given(st.lists(span, min_size=1, max_size=30))
def test_every_picture_stays_within_its_frame(spans: list[tuple[float, float]]) -> None:
    """Whatever the times are, and in order."""
    stretches = lay_out(spans)
    assert all(130 <= one.left <= one.right <= 720 for one in stretches)
    assert all(before.right < after.left for before, after in pairwise(stretches))
    drawn = draw_timeline(Timeline("Time", (Lane("Tools", "good", tuple(sorted(spans))),)))
    assert "nan" not in drawn
