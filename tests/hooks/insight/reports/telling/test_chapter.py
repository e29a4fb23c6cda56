"""The chapter of a session."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.chapter import SECTIONS, make_anchor, tell_chapter
from amplifier_hooks.insight.reports.telling.document import Heading, Link, Paragraph
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import tell_whole_story


def test_every_section_can_be_jumped_to() -> None:
    """Each link has its heading, and chapters do not share them."""
    blocks = [*tell_chapter(tell_whole_story(), 2)]
    links = {
        part.anchor
        for block in blocks
        if isinstance(block, Paragraph)
        for part in block.parts
        if isinstance(part, Link)
    }
    anchors = {block.anchor for block in blocks if isinstance(block, Heading) and block.anchor}
    assert links == anchors == {make_anchor(2, key) for key, _, _ in SECTIONS}


def test_what_went_wrong_comes_early() -> None:
    """Before the sections."""
    words = read_words(tell_chapter(tell_whole_story("oops"), 1))
    assert words.index("What went wrong (1)") < words.index("\nTime line\ns1-time")
