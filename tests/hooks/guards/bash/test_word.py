"""A word: what is written, and what a shell makes of it."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.word import UNKNOWN, Word, create_literal, split_names


@pytest.mark.parametrize(
    ("value", "is_flag"),
    [("-r", True), ("--force", True), ("-", False), ("", False), ("a-b", False), (None, False)],
)
def test_an_option_begins_with_a_dash_and_goes_on(value: str | None, is_flag: bool) -> None:
    """A lone dash is standard input; what is not certain is not taken for an option."""
    assert Word("x", value).is_flag is is_flag


def test_a_literal_is_what_it_reads_as() -> None:
    """Nothing in it is a wildcard."""
    assert create_literal("*") == Word("*", "*")
    assert not create_literal("~").tilde


def test_an_unknown_word_has_no_value() -> None:
    """It may be anything, also an option."""
    assert UNKNOWN.value is None


def test_names_are_split_at_blanks() -> None:
    """A list in one string, over several lines."""
    assert split_names("a b\n  c") == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("word", "fixed", "single"),
    [
        (create_literal("a"), True, True),
        (Word("*", "*", glob=True), False, False),
        (Word('"$x"', None), False, True),
        (UNKNOWN, False, False),
    ],
)
def test_a_word_may_become_several(word: Word, fixed: bool, single: bool) -> None:
    """Fixed is one known word; single is one word, known or not."""
    assert (word.fixed, word.single) == (fixed, single)
