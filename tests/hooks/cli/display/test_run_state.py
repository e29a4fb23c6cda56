"""What the events of a run add up to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from amplifier_core import events
from amplifier_hooks.cli.display.narration import RunState, format_duration


def clock(step: float = 1.0) -> Iterator[float]:
    return count(0.0, step)


def make_state(step: float = 1.0) -> RunState:
    times = clock(step)
    return RunState(clock=lambda: next(times))


@pytest.mark.parametrize(
    ("replies", "step", "failures", "summary"),
    [
        # Of all replies together, by their total or by its parts.
        (
            [
                {"usage": {"input_tokens": 3, "output_tokens": 4}},
                {"usage": {"total_tokens": 1000, "cost": 1.5}},
            ],
            75.0,
            0,
            "1 min 15 s · 1,007 tokens · $1.50",
        ),
        # What is not known is not shown, and no failures are not mentioned.
        ([{}], 1.0, 0, "1.0 s"),
        ([], 0.0, 0, "0.0 s"),
        ([], 0.0, 1, "0.0 s · 1 hook failure"),
        ([], 0.0, 2, "0.0 s · 2 hook failures"),
    ],
)
def test_the_state_counts_tokens_cost_time_and_failures(
    replies: list[dict[str, Any]], step: float, failures: int, summary: str
) -> None:
    """In one line."""
    state = make_state(step)
    for reply in replies:
        state.count(events.PROVIDER_RESPONSE, reply)
    state.hook_failures = failures
    assert state.summarize() == summary


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


@pytest.mark.parametrize(
    "course",
    [
        # From the first request to the last word.
        [
            (events.PROVIDER_REQUEST, "", "thinking"),
            (events.CONTENT_BLOCK_DELTA, "", "answering"),
            (events.TOOL_PRE, "Bash", "running Bash"),
            (events.APPROVAL_REQUIRED, "", "waiting for a decision"),
            (events.TOOL_POST, "Bash", "thinking"),
            (events.SESSION_END, "", "thinking"),
        ],
        # Each tool once, with the number of its calls; one that was denied does not run.
        [
            (events.TOOL_PRE, "Read", "running Read"),
            (events.TOOL_PRE, "Bash", "running Read, Bash"),
            (events.TOOL_PRE, "Read", "running 2 × Read, Bash"),
            (events.TOOL_POST, "Read", "running Bash, Read"),
            (events.POLICY_VIOLATION, "Bash", "running Read"),
            (events.TOOL_ERROR, "Read", "thinking"),
        ],
    ],
    ids=["turn", "tools"],
)
def test_the_state_says_what_is_being_done(course: list[tuple[str, str, str]]) -> None:
    """And which tools run."""
    state = RunState()
    assert state.doing == "starting"
    for event, tool, doing in course:
        more = {"tool_name": tool, "event": events.TOOL_PRE} if tool else {}
        state.count(event, more)
        assert state.doing == doing


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0.0 s"), (9.94, "9.9 s"), (59.9, "59 s"), (3661, "61 min 01 s")]
)
def test_a_duration_is_short(seconds: float, text: str) -> None:
    """Tenths only where they matter."""
    assert format_duration(seconds) == text


def test_a_run_that_is_being_stopped_does_nothing_else() -> None:
    """Whatever still happens meanwhile."""
    state = RunState()
    state.stop()
    state.count(events.TOOL_POST, {})
    assert (state.doing, state.stopping) == ("stopping", True)
