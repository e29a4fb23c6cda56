"""What an agent seems to be caught in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.progress_monitor.calls import Call
from amplifier_hooks.guards.progress_monitor.concern import (
    count_repeats,
    find_concern,
    find_cycle,
)
from amplifier_hooks.guards.progress_monitor.config import Config


def call(name: str, tool: str = "Bash") -> Call:
    return Call(tool, name, f"{tool}({name})")


def calls(names: str, tool: str = "Bash") -> list[Call]:
    return [call(name, tool) for name in names]


@pytest.mark.parametrize(
    ("names", "kind", "stage"),
    [
        ("", None, 0),
        ("aa", None, 0),
        ("aaa", "repeats", 1),
        ("aaaaa", "repeats", 2),
        ("aaaaaaa", "repeats", 3),
        ("baaa", "repeats", 1),
        ("aaab", None, 0),
        ("abab", "cycles", 1),
        ("ababab", "cycles", 2),
        ("abababab", "cycles", 3),
        ("abcabc", "cycles", 1),
        ("abcdabcd", "cycles", 1),
        ("abcdeabcde", None, 0),
        ("xxabab", "cycles", 1),
        ("abacadae", None, 0),
    ],
)
def test_repeats_and_cycles_are_told_apart(names: str, kind: str | None, stage: int) -> None:
    """Detection of an agent that repeats itself: same call with same input, A-B-A-B cycles."""
    concern = find_concern(calls(names), Config())
    assert (concern.kind if concern else None, concern.stage if concern else 0) == (kind, stage)


@given(st.lists(st.sampled_from("abc"), max_size=40), st.sampled_from(["ab", "abc", "aabc"]))
def test_any_history_that_ends_in_rounds_is_a_cycle(history: list[str], cycle: str) -> None:
    """A cycle is found whatever came before it."""
    size, rounds = find_cycle(calls("".join(history) + cycle * 3))
    assert rounds >= 3
    assert size <= len(cycle)


@given(st.lists(st.integers(), unique=True, max_size=100))
def test_calls_that_all_differ_are_no_concern(numbers: list[int]) -> None:
    """An agent that does something new each time is left alone."""
    history = [call(str(number)) for number in numbers]
    assert find_concern(history, Config()) is None
    assert count_repeats(history) == (1 if numbers else 0)


def test_reading_for_ever_is_a_concern_until_something_is_done() -> None:
    """Detection of an agent that reads for ever."""
    reads = [call(str(number), "Read") for number in range(20)]
    assert find_concern(reads[:19], Config()) is None
    concern = find_concern(reads, Config())
    assert concern is not None
    assert (concern.kind, concern.stage) == ("reads", 1)
    assert find_concern([*reads, call("x", "Edit")], Config()) is None
