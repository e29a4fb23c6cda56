"""Text that is safe to show, to inject or to write down."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.machine.text import (
    clip_lines,
    clip_text,
    count_noun,
    strip_controls,
    to_one_line,
    to_text,
)

anything = st.text(st.characters())


class Broken:
    """An object that cannot even say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


@given(anything, st.integers(200, 5000))
def test_clipped_text_fits_in_bytes(text: str, limit: int) -> None:
    """What is injected never exceeds its limit, counted in UTF-8."""
    assert len(clip_lines(text, limit).encode()) <= limit


def test_clipped_text_keeps_whole_lines_and_says_what_is_missing() -> None:
    """The reader knows that there is more."""
    text = "\n".join(f"line {number}" for number in range(100))
    cut = clip_lines(text, 200).splitlines()
    assert cut[0] == "line 0"
    assert cut[-1] == f"… {100 - len(cut) + 1} more lines"


def test_a_text_that_fits_is_left_as_it_is() -> None:
    """Only the empty lines around it go."""
    assert clip_lines("\n\na\n\nb\n", 200) == "a\n\nb"


def test_one_endless_line_is_cut_inside() -> None:
    """Even when not all of the first line fits."""
    cut = clip_lines("é" * 1000, 200)
    assert len(cut.encode()) <= 200
    assert cut.startswith("é" * 50)


@given(anything, st.integers(1, 50))
def test_a_clipped_text_is_a_beginning_and_says_so(text: str, limit: int) -> None:
    """What fits is left as it is; what was cut ends in an ellipsis."""
    clipped = clip_text(text, limit)
    assert len(clipped) <= limit
    if len(text) <= limit:
        assert clipped is text
    else:
        assert text.startswith(clipped.removesuffix("…"))
        assert clipped.endswith("…")


@given(anything, st.integers(1, 500))
def test_one_line_is_one_short_line(text: str, limit: int) -> None:
    """No control character and no line break reaches a message."""
    line = to_one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1
    assert not any(unicodedata.category(char) in {"Cc", "Cs"} for char in line)


@pytest.mark.parametrize(
    ("value", "limit", "line"),
    [
        ("a\n b\tc", 10, "a b c"),
        ("abcdef", 4, "abc…"),
        ("abcd", 4, "abcd"),
        ("ab cdef", 4, "ab…"),
        ("abc", 0, "…"),
        (None, 10, "None"),
        ({"a": 1}, 20, "{'a': 1}"),
        (" " * 5000 + "late", 10, ""),
    ],
)
def test_any_value_becomes_one_line(value: object, limit: int, line: str) -> None:
    """What was cut ends in an ellipsis; of an endless text only the beginning is looked at."""
    assert to_one_line(value, limit) == line


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain", "plain"),
        ("a\x1b[31mb", "a[31mb"),
        ("a\u202eb", "ab"),
        ("a\ud800b", "ab"),
        ("a\x00b\x7f", "ab"),
        ("a\n\tb", "a\n\tb"),
        ("👩\u200d💻 می\u200cخواهم", "👩\u200d💻 می\u200cخواهم"),
    ],
)
def test_controls_are_stripped_and_joiners_are_none(text: str, clean: str) -> None:
    """Emoji and scripts that join letters survive."""
    assert strip_controls(text) == clean


def test_what_is_kept_can_be_chosen() -> None:
    """A title keeps neither line breaks nor tabs."""
    assert strip_controls("a\n\tb", keep="") == "ab"


def test_a_string_is_its_own_text_and_anything_else_speaks_for_itself() -> None:
    """Even an object whose `repr` raises has a text."""
    assert to_text("a") == "a"
    assert to_text(7) == "7"
    assert "Broken" in to_text(Broken())


@pytest.mark.parametrize(("count", "text"), [(0, "0 issues"), (1, "1 issue"), (3, "3 issues")])
def test_a_noun_is_counted(count: int, text: str) -> None:
    """Only one is singular."""
    assert count_noun(count, "issue") == text
