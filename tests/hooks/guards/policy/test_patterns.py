"""Regular expressions that no text can stall."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.policy.patterns import (
    PatternError,
    PatternSet,
    compile_pattern,
    replace_surrogates,
)
from amplifier_hooks.guards.policy.secrets import SHAPES
from tests.hooks.guards.policy.secrets.secrets_made import (
    framed_secrets,
)

TOGETHER = PatternSet(list(SHAPES.values()), "test")

ALONE = [compile_pattern(source, "test") for source in SHAPES.values()]


@given(st.text(max_size=300), st.lists(framed_secrets(), max_size=3))
def test_the_one_pass_search_finds_what_each_pattern_finds(text: str, framed: list[Any]) -> None:
    """Looking for all patterns at once overlooks none."""
    whole = text.join(part for _, part in framed) + text
    together = [number for number, _ in TOGETHER.find_candidates(whole)]
    assert together == [number for number, one in enumerate(ALONE) if one.occurs_in(whole)]


def test_a_set_without_patterns_finds_nothing() -> None:
    """A user may switch every shape off."""
    assert list(PatternSet([], "test").find_candidates("anything")) == []


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|aa)+$", "(.*)*x", "(x+x+)+y"])
def test_hostile_own_patterns_cannot_stall(pattern: str) -> None:
    """A user's pattern takes linear time, however it is written."""
    start = time.process_time()
    assert not compile_pattern(pattern, "test").occurs_in("a" * 100_000 + "b")
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        ("a+", "xaaxa", [(1, 3), (4, 5)]),
        ("a*", "xx", []),
        ("key=(?P<secret>\\w+)", "key=abc key=d", [(4, 7), (12, 13)]),
        ("k=(?P<one>a)|k=(?P<two>b)", "k=b k=a", [(2, 3), (6, 7)]),
        ("ü+", "grüüß", [(2, 4)]),
        ("b", "\ud800b", [(1, 2)]),
    ],
)
def test_spans_are_positions_in_the_text_that_was_given(
    pattern: str, text: str, spans: list[tuple[int, int]]
) -> None:
    """Counted in characters; with named groups only those that took part, and never empty ones."""
    assert list(compile_pattern(pattern, "test").find_spans(text)) == spans


@pytest.mark.parametrize("ignore_case", [True, False])
def test_case_counts_unless_it_is_to_be_ignored(ignore_case: bool) -> None:
    """Patterns for shell commands are exact; rules may be written without regard to case."""
    found = compile_pattern("secret", "test", ignore_case=ignore_case).occurs_in("SECRET")
    assert found is ignore_case


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "missing )"),
        ("a(?=b)", "look-around"),
        (r"(a)\1", "back-references"),
        ("a{5000}", "not a pattern of RE2"),
        ("\ud800", "lone surrogate"),
    ],
)
def test_a_pattern_that_the_engine_cannot_run_is_refused_with_its_reason(
    pattern: str, reason: str
) -> None:
    """The sentence quotes the pattern, and says what this engine does without, and why."""
    with pytest.raises(PatternError) as refused:
        compile_pattern(pattern, "test")
    assert reason in str(refused.value)
    assert repr(pattern) in str(refused.value)


@given(st.text(st.characters()))
def test_any_text_can_be_encoded_once_its_surrogates_are_replaced(text: str) -> None:
    """One character stands for one, so that positions stay the same; other text is not copied."""
    replaced = replace_surrogates(text)
    replaced.encode()
    assert len(replaced) == len(text)
    try:
        text.encode()
    except UnicodeEncodeError:
        assert replaced != text
    else:
        assert replaced is text


def test_when_the_one_pass_search_gives_up_every_pattern_is_a_candidate() -> None:
    """The engine does not say that it ran out of memory: it just finds nothing."""

    class Exhausted:
        def Match(self, text: str) -> list[int]:  # noqa: N802 - the engine's name
            return []

    patterns = PatternSet(["a", "b"], "test")
    assert [number for number, _ in patterns.find_candidates("b")] == [1]
    patterns._set = Exhausted()
    assert [number for number, _ in patterns.find_candidates("b")] == [0, 1]


def test_the_groups_that_took_part_say_where_they_begin() -> None:
    """Of the first occurrence; empty groups and those of other alternatives do not count."""
    pattern = compile_pattern("x(?:(a+)|(b*))c", "test")
    assert list(pattern.find_group_starts("..xaac xbc")) == [3]
    assert list(pattern.find_group_starts("xc")) == []
    assert list(pattern.find_group_starts("nothing")) == []
