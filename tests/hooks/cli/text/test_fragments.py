"""Lines of styled text: wrapped without a loss, and readable back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.cli.text.fragments import (
    CONTINUED,
    ELLIPSIS,
    GUTTER,
    PROSE_LENGTH,
    Line,
    add_gutter,
    count_cells,
    cut_end,
    cut_start,
    escape_line,
    escape_lines,
    join_text,
    to_ascii,
    wrap,
    wrap_words,
)
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.hostile_text import hostile

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


@pytest.mark.parametrize(
    ("text", "room", "start", "end"),
    [
        ("abcdef", 4, "abc…", "…def"),
        ("漢漢漢", 4, "漢…", "…漢"),
        ("abc", 0, ELLIPSIS, ELLIPSIS),
        ("abc", -5, ELLIPSIS, ELLIPSIS),
    ],
)
def test_as_much_is_kept_as_fits(text: str, room: int, start: str, end: str) -> None:
    """A wide character that does not fit is left out whole; without room the sign remains."""
    assert (cut_end(text, room), cut_start(text, room)) == (start, end)


def cells(text: str) -> int:
    from prompt_toolkit.utils import get_cwidth

    return get_cwidth(text)


def texts(lines: list[Line]) -> list[str]:
    return [join_text(line) for line in lines]


def test_escapes_stand_out_from_the_text_around_them() -> None:
    """A style of their own, also where several follow one another."""
    assert escape_line("a\x1b\x1bb", "tool") == (
        ("tool", "a"),
        ("escape", "\\u{1B}\\u{1B}"),
        ("tool", "b"),
    )


def test_only_lines_may_break_lines() -> None:
    """A newline is a line in one form, and an escape in the other."""
    assert texts(escape_lines("a\nb")) == ["a", "b"]
    assert join_text(escape_line("a\nb")) == "a\\u{A}b"
    assert escape_lines("") == [(("", ""),)]


@given(hostile, st.integers(3, 200))
def test_a_wrapped_text_maps_back_to_the_exact_argument(text: str, width: int) -> None:
    """The gutter tells a wrapped row from a new line, so the screen can be read back."""
    rows = texts(add_gutter(escape_lines(text), width))
    joined = "".join(
        row[2:] if row.startswith(CONTINUED) else f"\n{row.removeprefix(GUTTER)}" for row in rows
    )
    assert unescape(joined.removeprefix("\n")) == text


@given(hostile, st.integers(3, 60))
def test_wrapping_loses_nothing_and_keeps_the_width(text: str, width: int) -> None:
    """Anywhere or at words: the rows together are the text; wide characters count twice."""
    for line in escape_lines(text):
        for rows in (wrap(line, width), wrap_words(line, width)):
            assert "".join(texts(rows)) == join_text(line)
            assert all(cells(join_text(row)) <= width for row in rows)


@pytest.mark.parametrize(
    ("line", "width", "rows"),
    [
        # A word longer than a row is broken, others are not.
        (
            (("", "one two "), ("tool", "three fourfivesix")),
            8,
            ["one two ", "three ", "fourfive", "six"],
        ),
        # Looking for words in a megabyte would take minutes.
        ((("", "ab " * PROSE_LENGTH),), 4, ["ab a", "b ab"]),
    ],
    ids=["prose", "no prose"],
)
def test_words_stay_whole_where_they_can(line: Line, width: int, rows: list[str]) -> None:
    """In prose; what is longer is wrapped as it comes."""
    assert texts(wrap_words(line, width))[: len(rows)] == rows


def test_a_row_keeps_the_styles_of_its_pieces() -> None:
    """A style that goes on in the next row is there, too."""
    assert wrap((("a", "12"), ("b", "345")), 3) == [(("a", "12"), ("b", "3")), (("b", "45"),)]
    assert wrap((("a", "漢漢"),), 3) == [(("a", "漢"),), (("a", "漢"),)]


@given(hostile)
def test_a_line_for_ascii_can_be_read_back(text: str) -> None:
    """Only ASCII, and still the same text."""
    shown = join_text(to_ascii(escape_line(text)))
    assert shown.isascii()
    assert unescape(shown) == text
