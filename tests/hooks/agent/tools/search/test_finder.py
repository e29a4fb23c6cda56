"""Where an expression matches, line by line."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.agent.tools.base import Refused
from amplifier_hooks.agent.tools.search.finder import make_finder

ENGINES = pytest.mark.parametrize("engine", ["re2", "re"])
TEXT = b"one\r\ntwo\n\nthree two\n"


def find(pattern: str, engine: Any, data: bytes = TEXT, **options: bool) -> list[tuple[int, int]]:
    return list(make_finder(pattern, engine, **options)(data))


@ENGINES
@pytest.mark.parametrize(
    ("pattern", "lines"),
    [
        ("two", [1, 3]),
        ("^two$", [1]),
        ("one$", [0]),
        ("^$", [2]),
        (r"\Atwo", [1]),
        ("three$", []),
        ("TWO", []),
        (r"e\s+t", [3]),
        ("nothing", []),
    ],
)
def test_matches_are_found_line_by_line(engine: Any, pattern: str, lines: list[int]) -> None:
    """A line has no end of its own, whichever signs end it."""
    assert find(pattern, engine) == [(line, line) for line in lines]


@ENGINES
def test_case_can_be_ignored(engine: Any) -> None:
    """It is not by itself."""
    assert find("TWO", engine, ignore_case=True) == [(1, 1), (3, 3)]


@ENGINES
def test_a_match_may_span_lines(engine: Any) -> None:
    """Its first and its last line are named; the end of a line belongs to the line."""
    assert find("two.+two", engine, multiline=True) == [(1, 3)]
    assert find(r"two\n", engine, multiline=True) == [(1, 1), (3, 3)]
    assert find("^t", engine, multiline=True) == [(1, 1), (3, 3)]


@ENGINES
def test_a_match_of_nothing_does_not_go_on_for_ever(engine: Any) -> None:
    """One at each place, and then the end."""
    assert len(find("x*", engine, b"ab", multiline=True)) == 3


@ENGINES
def test_a_file_without_a_last_line_end_has_the_same_lines(engine: Any) -> None:
    """There is no empty line behind the last."""
    assert find("^", engine, b"a\nb") == find("^", engine, b"a\nb\n") == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("engine", "pattern", "words"),
    [
        ("re2", "(two", "'(two' is not a pattern of RE2: missing )"),
        ("re2", "(?<=a)b", "look-around and back-references are not supported"),
        ("re", "(two", "'(two' is not a regular expression"),
        ("re", "\ud800", "is not a regular expression"),
    ],
)
def test_a_pattern_that_does_not_compile_is_refused(engine: Any, pattern: str, words: str) -> None:
    """With the engine's reason."""
    with pytest.raises(Refused) as caught:
        make_finder(pattern, engine)
    assert words in str(caught.value)


words = st.text("ab \n", max_size=20).map(str.encode)
patterns = st.sampled_from(["a", "b+", "^a", "b$", "a b", "(a|b) ", "^$", "[ab]{2}"])


@given(patterns, words, st.booleans())
def test_both_engines_find_the_same(pattern: str, data: bytes, multiline: bool) -> None:
    """Where they know the same language."""
    first = find(pattern, "re2", data, multiline=multiline)
    assert first == find(pattern, "re", data, multiline=multiline)
