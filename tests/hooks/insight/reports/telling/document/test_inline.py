"""The parts of a sentence."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.rendering.html_page import render_html
from amplifier_hooks.insight.reports.rendering.markdown import render_markdown
from amplifier_hooks.insight.reports.telling.document import Document, Paragraph
from amplifier_hooks.insight.reports.telling.document.inline import (
    Code,
    Inline,
    Link,
    Marked,
    Quoted,
)


@pytest.mark.parametrize(
    ("part", "html", "markdown"),
    [
        ("words", "words", "words"),
        (Code("rm -r"), "<code><bdi>rm -r</bdi></code>", "`rm -r`"),
        (Quoted("no\n more"), "“<bdi>no more</bdi>”", "“no more”"),
        (Marked("Denied"), "<strong><bdi>Denied</bdi></strong>", "**Denied**"),
        (Marked("late", "warn"), '<span class="mark warn"><bdi>late</bdi></span>', "**late**"),
        (Link("Proof", "s1-proof"), '<a href="#s1-proof">Proof</a>', ""),
    ],
)
def test_each_part_has_its_look(part: Inline, html: str, markdown: str) -> None:
    """In HTML and in Markdown, where there is nothing to jump to."""
    document = Document("t", (Paragraph((part,)),))
    assert f"<p>{html}</p>" in render_html(document)
    assert render_markdown(document).strip() == markdown
