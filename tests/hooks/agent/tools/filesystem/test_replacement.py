"""Replacing a passage of text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.filesystem.replacement import Replaced, replace_passage

PIECES = st.text("ab\n\r", min_size=1, max_size=6)


@given(st.text("ab\n\r", max_size=30), PIECES, PIECES)
def test_an_edit_is_one_replacement_or_a_refusal(text: str, old: str, new: str) -> None:
    """Without carriage returns it is exactly what `str.replace` does."""
    text, old, new = (part.replace("\r", "") for part in (text, old, new))
    try:
        replaced = replace_passage(text, old, new, replace_all=False)
    except Refused:
        assert text.count(old) != 1 or not old or old == new
    else:
        assert replaced.text == text.replace(old, new)
        assert text.count(old) == 1


@given(st.text("ab\n\r", max_size=30), PIECES, PIECES)
def test_a_file_with_carriage_returns_stays_one(text: str, old: str, new: str) -> None:
    """Where every line of it ends in both, and the passage is written with line feeds."""
    text = text.replace("\r", "").replace("\n", "\r\n")
    old, new = old.replace("\r", ""), new.replace("\r", "")
    try:
        replaced = replace_passage(text, old, new, replace_all=True)
    except Refused:
        return
    if "\r\n" in text:
        assert replaced.text.count("\n") == replaced.text.count("\r\n")


def test_the_line_of_the_first_occurrence_is_counted_from_1() -> None:
    """All occurrences are counted."""
    replaced = replace_passage("a\nb\nb\n", "b", "c", replace_all=True)
    assert replaced == Replaced("a\nc\nc\n", 2, 2)


def test_a_passage_with_a_bare_line_feed_is_taken_literally() -> None:
    """In a file that has both kinds of line ends."""
    replaced = replace_passage("a\nb\r\nc", "a\nb", "x\ny", replace_all=False)
    assert replaced.text == "x\ny\r\nc"


def test_a_passage_does_not_begin_in_the_middle_of_a_line_end() -> None:
    """A line feed at its beginning stands for the whole end of the line before."""
    replaced = replace_passage("a\r\nb\r\nc", "\nb", "", replace_all=False)
    assert replaced == Replaced("a\r\nc", 1, 1)


def test_many_occurrences_are_listed_up_to_a_limit() -> None:
    """Enough to find them."""
    with pytest.raises(Refused, match=r"found 12 times \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …\)"):
        replace_passage("a\n" * 12, "a", "b", replace_all=False)


def test_a_passage_that_is_nowhere_comes_with_advice() -> None:
    """Line numbers of Read are the usual mistake."""
    with pytest.raises(Refused, match="copy the passage exactly, without line numbers"):
        replace_passage("one\n", "     1\tone", "two", replace_all=False)
