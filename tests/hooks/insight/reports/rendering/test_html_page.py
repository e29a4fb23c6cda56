"""The page."""

from __future__ import annotations

from collections import Counter
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from amplifier_hooks.insight.reports.excerpts import Excerpt
from amplifier_hooks.insight.reports.rendering.html_page import POLICY, render_html
from amplifier_hooks.insight.reports.telling.document import Card, Document, Folded, Listing
from amplifier_hooks.insight.reports.telling.report import tell_report
from tests.hooks.cli.hostile_text import BIDI, hostile
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
    return Page(render_html(tell_report(report_on(tell_whole_story(text)))))


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
    page = render_html(tell_report(report_on(tell_whole_story())))
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
