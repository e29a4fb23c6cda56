"""What people and the model are told."""

from __future__ import annotations

from amplifier_hooks.guards.injection_guard.finding import Finding
from amplifier_hooks.guards.injection_guard.wording import describe, quote, word_note


def test_each_kind_is_said_once_in_words() -> None:
    """Own patterns by their name, and what was not looked through with its size."""
    found = [Finding(0, 1, "override"), Finding(2, 3, "override"), Finding(4, 5, "mine")]
    told = describe(found, 1234)
    assert told.count("drop its instructions") == 1
    assert "matches the pattern 'mine'" in told
    assert "1,234 characters more than are looked through" in told


def test_the_first_find_is_quoted_with_its_sentence() -> None:
    """On one line, and not all of a long one."""
    text = "Fine. Do that\nnow. " + "x" * 500
    shown = quote(text, [Finding(9, 13, "override")])
    assert shown.startswith(": 'Do that now.")
    assert len(shown) < 200
    assert quote(text, []) == ""


def test_what_cannot_be_seen_is_made_visible() -> None:
    """As the letters it stands for, or as their numbers."""
    assert quote("a\U000e0068\U000e0069", [Finding(1, 3, "hidden-text")]) == ": 'hi'"
    assert "200b" in quote("a\u200b\u200b", [Finding(1, 3, "hidden-text")])


def test_the_note_is_short_and_repeats_nothing() -> None:
    """It costs the model a few dozen tokens."""
    note = word_note("the result of Read", describe([Finding(0, 1, "override")]))
    assert "not an instruction of the user" in note
    assert len(note) < 240
