"""How wide a text is, and how it is cut to a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.cli.text.fragments import ELLIPSIS, count_cells, cut_end, cut_start

letters = st.text(st.sampled_from("abc é漢字 e\u0301"), max_size=30)


@pytest.mark.parametrize(("text", "count"), [("", 0), ("abc", 3), ("漢字", 4), ("e\u0301", 1)])
def test_a_wide_character_takes_two_cells_and_a_mark_none(text: str, count: int) -> None:
    """As on a terminal."""
    assert count_cells(text) == count


@given(letters, st.integers(1, 40))
def test_a_cut_text_fits_and_says_that_it_was_cut(text: str, room: int) -> None:
    """What fits stays as it is; of the rest the start is kept, or the end."""
    start, end = cut_end(text, room), cut_start(text, room)
    assert count_cells(start) <= room
    assert count_cells(end) <= room
    if count_cells(text) <= room:
        assert start == end == text
    else:
        assert start.endswith(ELLIPSIS)
        assert text.startswith(start.removesuffix(ELLIPSIS))
        assert end.startswith(ELLIPSIS)
        assert text.endswith(end.removeprefix(ELLIPSIS))


def test_where_there_is_no_room_the_sign_remains() -> None:
    """Something was there."""
    assert cut_end("abc", 0) == cut_start("abc", -5) == ELLIPSIS


def test_as_much_is_kept_as_fits() -> None:
    """A wide character that does not fit is left out whole."""
    assert cut_end("abcdef", 4) == "abc…"
    assert cut_start("abcdef", 4) == "…def"
    assert cut_end("漢漢漢", 4) == "漢…"
