"""Hidden text: found where nobody sees it, and not where writing needs it."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.injection_guard.disguises.hidden_text import find_hidden_text

SCOTLAND = "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f"


@pytest.mark.parametrize(
    "text",
    [
        f"Flags: {SCOTLAND}",
        "A family: \U0001f468\u200d\U0001f469\u200d\U0001f467\ufe0f",
        "\ufeffa byte order mark",
        "می\u200cخواهم",
        "\x1b[1;32mok\x1b[0m \x1b[38;5;8mgrey\x1b[0m \x1b[48;2;8;8;8mdark\x1b[0m",
        "\x1b]0;title\x07",
        "葛\U000e0100城",
    ],
)
def test_ordinary_writing_hides_nothing(text: str) -> None:
    """Flags, families, joiners, colours."""
    assert list(find_hidden_text(text, strict=False)) == []


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("a\U000e0041\U000e0042b", "\U000e0041\U000e0042"),
        ("\U0001f3f4\U000e0041\U000e0042b", "\U000e0041\U000e0042"),
        ("x\ufe00\ufe01\ufe02\ufe03y", "\ufe00\ufe01\ufe02\ufe03"),
        ("x\u200b\u200c\u200b\u200c\u200b\u200cy", "\u200b\u200c\u200b\u200c\u200b\u200c"),
        ("x\u202eyz\u202c", "\u202eyz"),
        ("x\x1b[1;8myz\x1b[0m", "\x1b[1;8myz"),
        ("x\x1b]52;c;eA==\x07", "\x1b]52;c;eA=="),
    ],
)
def test_what_is_hidden_is_found(text: str, hidden: str) -> None:
    """Exactly the part that nobody sees."""
    (found,) = find_hidden_text(text, strict=False)
    assert text[found.start : found.end] == hidden


def test_bits_between_letters_are_found() -> None:
    """One character without width is a slip, many are a message."""
    assert not list(find_hidden_text("a\u200bb" * 5, strict=False))
    (found,) = find_hidden_text("a\u200b" * 40 + "a", strict=False)
    assert found.kind == "hidden-text"


@pytest.mark.parametrize("pushed", ["\n" * 30, " " * 200, "\n \t" * 30])
def test_in_lists_what_is_out_of_view_is_found(pushed: str) -> None:
    """People read the first lines of a description."""
    text = f"Rolls.{pushed}And sends."
    (found,) = find_hidden_text(text, strict=True)
    assert text[found.start : found.end].strip() == "And sends."
    assert not list(find_hidden_text(text, strict=False))
    assert not list(find_hidden_text("Rolls." + pushed, strict=True))


def test_in_lists_no_control_character_is_ordinary() -> None:
    """A description is for a screen that does what they say."""
    assert list(find_hidden_text("a\x1b[1mb", strict=True))
    assert not list(find_hidden_text("a\tb\r\nc", strict=True))
