"""What a hook has done, counted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.hook_counts import HookCounts


def test_a_new_one_has_done_nothing():
    """And its figures can be told."""
    told = HookCounts().to_dict()
    assert told["calls"] == 0
    assert told["answers"] == {"continue": 0}
    assert told["p50_ms"] is told["p99_ms"] is None
    assert set(told["approvals"].values()) == {0}


def test_answers_are_told_by_action_and_the_rest_are_continues():
    """What had no effect is counted apart."""
    counts = HookCounts()
    counts.calls = 6
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_answer("modify", shadowed=False, unheeded=True)
    counts.count_answer("ask_user", shadowed=True, unheeded=True)
    told = counts.to_dict()
    assert told["answers"] == {"continue": 4, "deny": 2}
    assert (told["unheeded"], told["shadowed"]) == (1, {"ask_user": 1})


@pytest.mark.parametrize(
    ("allowed", "how", "figure"),
    [
        (True, "person", {"allowed": 1, "overruled": 1}),
        (True, "rule", {"allowed": 1}),
        (False, "person", {"refused": 1}),
        (False, "nobody", {"refused": 1}),
        (False, "timeout", {"expired": 1}),
        (True, "timeout", {"expired": 1}),
    ],
)
def test_a_decision_is_counted_once(allowed, how, figure):
    """What a person allowed was a false alarm; what a rule allowed nobody overruled."""
    counts = HookCounts()
    counts.count_decision(allowed, how)
    assert {name: n for name, n in counts.to_dict()["approvals"].items() if n} == figure


def test_a_failure_may_be_a_time_out():
    """Which is counted as both."""
    counts = HookCounts()
    counts.count_failure(timed_out=False)
    counts.count_failure(timed_out=True)
    assert (counts.failures, counts.timeouts) == (2, 1)


@given(st.lists(st.floats(min_value=0, max_value=1000), min_size=1, max_size=60))
def test_a_quantile_is_right_to_a_few_of_a_hundred(times):
    """Compared with the times themselves, which trails have in microseconds."""
    counts = HookCounts()
    for seconds in times:
        counts.count_time(seconds)
    ordered = sorted(times)
    for share in (0.5, 0.95, 0.99):
        found = counts.find_quantile(share)
        place = next(i for i in range(len(ordered)) if i + 1 >= share * len(ordered))
        assert found == pytest.approx(ordered[place] * 1000, rel=0.04, abs=6e-4)


figures = st.builds(
    lambda calls, denials, shadows: _make(calls, denials, shadows),
    st.lists(st.floats(0, 1), max_size=5),
    st.integers(0, 3),
    st.integers(0, 3),
)


def _make(calls, denials, shadows):
    counts = HookCounts()
    counts.calls = len(calls)
    for seconds in calls:
        counts.count_time(seconds)
    for _ in range(denials):
        counts.count_answer("deny", shadowed=False, unheeded=False)
    for _ in range(shadows):
        counts.count_answer("deny", shadowed=True, unheeded=False)
    counts.injected_tokens = denials
    return counts


@given(figures, figures)
def test_the_figures_of_two_are_the_sum_of_each(one, other):
    """In either order; neither of them is changed."""
    before = other.to_dict()
    both, swapped = HookCounts().add(one).add(other), HookCounts().add(other).add(one)
    assert both.to_dict() == swapped.to_dict()
    assert both.calls == one.calls + other.calls
    assert both.answers.get("deny", 0) == one.answers.get("deny", 0) + other.answers.get("deny", 0)
    assert sum(both.times.values()) == sum(one.times.values()) + sum(other.times.values())
    assert other.to_dict() == before


def test_a_short_table_has_the_figures_of_the_long_one():
    """By the names that machines read; a hook that nobody called has none."""
    counts = HookCounts()
    assert not counts.is_used
    counts.calls += 1
    counts.asked += 1
    counts.count_answer("deny", shadowed=False, unheeded=False)
    counts.count_failure(timed_out=False)
    counts.count_time(0.001)
    assert counts.is_used
    short, long = counts.summarize(), counts.to_dict()
    assert (short["denials"], short["asks"], short["errors"], short["injections"]) == (1, 1, 1, 0)
    assert all(short[name] == long[name] for name in ("calls", "p50_ms", "p95_ms", "p99_ms"))
