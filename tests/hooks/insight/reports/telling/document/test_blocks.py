"""The blocks of a document."""

from __future__ import annotations

from typing import get_args

from amplifier_hooks.insight.reports.rendering import html_page, markdown
from amplifier_hooks.insight.reports.telling.document.blocks import Block


def test_every_kind_of_block_can_be_rendered_in_every_format() -> None:
    """A new kind of block that a format does not know would fail in front of a user."""
    kinds = set(get_args(Block))
    assert set(html_page._RENDERERS) == set(markdown._RENDERERS) == kinds
