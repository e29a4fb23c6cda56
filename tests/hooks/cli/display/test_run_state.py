"""What the events of a run add up to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from amplifier_core import events
from amplifier_hooks.cli.display.narration import RunState, format_duration


def clock(step: float = 1.0) -> Iterator[float]:
    return count(0.0, step)


def make_state(step: float = 1.0) -> RunState:
    times = clock(step)
    return RunState(clock=lambda: next(times))


def test_the_state_counts_tokens_cost_and_time() -> None:
    """Of all replies together, by their total or by its parts."""
    state = make_state(75.0)
    state.count(events.PROVIDER_RESPONSE, {"usage": {"input_tokens": 3, "output_tokens": 4}})
    state.count(events.PROVIDER_RESPONSE, {"usage": {"total_tokens": 1000, "cost": 1.5}})
    assert state.summarize() == "1 min 15 s · 1,007 tokens · $1.50"


def test_what_is_not_known_is_not_shown() -> None:
    """No tokens, no cost."""
    state = make_state()
    state.count(events.PROVIDER_RESPONSE, {})
    assert state.summarize() == "1.0 s"


def test_a_reply_without_a_cost_has_that_of_the_price_list() -> None:
    """Cents in four digits; a model without a price costs nothing that could be shown."""
    state = make_state()
    usage = {"input_tokens": 1000, "output_tokens": 100, "total_tokens": 1100}
    state.count(events.PROVIDER_RESPONSE, {"model": "no-such-model", "usage": usage})
    assert state.cost is None
    state.count(events.PROVIDER_RESPONSE, {"model": "claude-sonnet-4-5", "usage": usage})
    assert state.cost is not None
    assert state.summarize() == f"1.0 s · 2,200 tokens · ${state.cost:.4f}"


def test_after_its_end_the_time_stands_still() -> None:
    """A summary that is shown later is the same."""
    state = make_state()
    state.end()
    assert state.elapsed == state.elapsed == 1.0


def test_the_state_says_what_is_being_done() -> None:
    """From the first request to the last word."""
    state = RunState()
    done = [state.doing]
    for event, data in [
        (events.PROVIDER_REQUEST, {}),
        (events.CONTENT_BLOCK_DELTA, {}),
        (events.TOOL_PRE, {"tool_name": "Bash"}),
        (events.APPROVAL_REQUIRED, {}),
        (events.TOOL_POST, {"tool_name": "Bash"}),
        (events.SESSION_END, {}),
    ]:
        state.count(event, data)
        done.append(state.doing)
    assert done == [
        "starting",
        "thinking",
        "answering",
        "running Bash",
        "waiting for a decision",
        "thinking",
        "thinking",
    ]


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (9.94, "9.9 s"), (59.9, "59 s"), (3661, "61 min 01 s")]
)
def test_a_duration_is_short(seconds: float, text: str) -> None:
    """Tenths only where they matter."""
    assert format_duration(seconds) == text


def test_tools_are_named_while_one_of_them_runs() -> None:
    """Each once, with the number of its calls; one that was denied does not run."""
    state = RunState()
    done = []
    for event, name in [
        (events.TOOL_PRE, "Read"),
        (events.TOOL_PRE, "Bash"),
        (events.TOOL_PRE, "Read"),
        (events.TOOL_POST, "Read"),
        (events.POLICY_VIOLATION, "Bash"),
        (events.TOOL_ERROR, "Read"),
    ]:
        state.count(event, {"tool_name": name, "event": events.TOOL_PRE})
        done.append(state.doing)
    assert done == [
        "running Read",
        "running Read, Bash",
        "running 2 × Read, Bash",
        "running Bash, Read",
        "running Read",
        "thinking",
    ]


def test_a_run_that_is_being_stopped_does_nothing_else() -> None:
    """Whatever still happens meanwhile."""
    state = RunState()
    state.stop()
    state.count(events.TOOL_POST, {})
    assert (state.doing, state.stopping) == ("stopping", True)


@pytest.mark.parametrize(("count", "words"), [(1, "1 hook failure"), (2, "2 hook failures")])
def test_failed_hooks_are_part_of_the_figures(count: int, words: str) -> None:
    """None are not mentioned."""
    state = RunState(clock=lambda: 0.0)
    assert state.summarize() == "0.0 s"
    state.hook_failures = count
    assert state.summarize() == f"0.0 s · {words}"
