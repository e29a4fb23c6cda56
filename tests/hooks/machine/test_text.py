"""Text that is safe to show, to inject or to write down."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from amplifier_hooks.machine.text import (
    clip_lines,
    clip_text,
    count_noun,
    encode_json,
    strip_controls,
    to_one_line,
    to_plain,
    to_text,
)


class Unprintable:
    """An object that cannot even say what it is."""

    def __repr__(self) -> str:
        raise RuntimeError("no")


class Model(BaseModel):
    name: str = "x"


def contain_itself() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(values)
def test_any_data_is_one_line_of_ascii_json(value: Any) -> None:
    """Even lone surrogates, infinities and numbers of any size."""
    line = encode_json(value)
    assert line.isascii()
    assert b"\n" not in line
    json.loads(line)


@pytest.mark.parametrize(
    "value",
    [
        Unprintable(),
        {"a": Unprintable()},
        {Unprintable(): 1},
        contain_itself(),
        {"a": {1, 2}},
        b"\xff",
        object(),
    ],
    ids=["broken", "inside", "as key", "itself", "set", "bytes", "object"],
)
def test_no_object_makes_it_raise(value: Any) -> None:
    """A value's own code may raise anything; there is JSON of it all the same."""
    assert json.loads(encode_json(value)) is not None


def test_what_json_knows_stays_as_it_is() -> None:
    """Plain data is not changed."""
    value = {"a": [1, 2.5, None, True, "ü"], "b": {}}
    assert json.loads(encode_json(value)) == value
    assert to_plain(value) == value


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (2**63, str(2**63)),
        (2**63 - 1, 2**63 - 1),
        (-(2**63), str(-(2**63))),
        (float("inf"), "inf"),
        (float("nan"), "nan"),
        ((1, 2), [1, 2]),
        ({1: 2}, {"1": 2}),
        (frozenset({1}), [1]),
    ],
)
def test_values_in_terms_of_json(value: Any, plain: Any) -> None:
    """Numbers that not every reader understands become text."""
    assert to_plain(value) == plain


def test_odd_objects_are_named() -> None:
    """Their `repr` stands for them, or their type if it fails."""
    assert "Unprintable" in to_plain([Unprintable()])[0]
    assert "name" in str(to_plain(Model()))


def test_depth_and_size_have_limits() -> None:
    """What lies beyond is an ellipsis."""
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    assert "end" not in json.dumps(to_plain(deep))
    assert to_plain([[0]] * 60_000)[-1] == "…"


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
