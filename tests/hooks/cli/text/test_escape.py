"""Hostile text at the terminal."""

from __future__ import annotations

from amplifier_hooks.cli.text import escape
from amplifier_hooks.text import escape as foundation


def test_the_terminal_shows_hostile_text_as_reports_do() -> None:
    """There is one way to make it visible, and its names are the same in both places."""
    assert all(getattr(escape, name) is getattr(foundation, name) for name in escape.__all__)
    assert escape.escape("a\u202eb") == "a\\u{202E}b"
