"""Elements and texts."""

from __future__ import annotations

from hypothesis import given, settings

from amplifier_hooks.insight.reports.rendering.elements import Markup, element, isolate, join, text
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.hostile_text import hostile, is_harmless
from tests.hooks.insight.reports.page_reader import Page


def test_only_what_was_made_here_is_markup() -> None:
    """A text with a tag in it is a text."""
    assert element("p", "<b>&", class_="a") == '<p class="a">&lt;b&gt;&amp;</p>'
    assert element("p", element("b", "x")) == "<p><b>x</b></p>"
    assert join(["<", Markup("<br>")]) == "&lt;<br>"


def test_attributes_are_escaped_and_may_be_absent() -> None:
    """Quotes cannot end one."""
    assert element("a", href='"><script>', id=None, hidden=True) == (
        '<a href="&quot;&gt;&lt;script&gt;" hidden></a>'
    )
    assert element("meta", http_equiv="X", x=1.50) == '<meta http-equiv="X" x="1.5">'


def test_hidden_characters_are_shown_and_stand_out() -> None:
    """What would reorder or hide text is written down."""
    assert text("a\u202eb") == 'a<span class="hidden">\\u{202E}</span>b'
    assert text("a\nb", lines=True) == "a\nb"
    assert isolate("<") == "<bdi>&lt;</bdi>"


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
