"""hooks-progress-monitor: when calls are the same, and what is done about it."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.guards.progress_monitor import (
    Call,
    Config,
    ProgressMonitor,
    compute_fingerprint,
    count_repeats,
    find_concern,
    find_cycle,
    mount,
)
from tests.support.harness import Harness

json_values = st.recursive(
    st.none() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)

inputs = st.dictionaries(st.text(), json_values, max_size=3)


@given(inputs, inputs)
def test_calls_are_the_same_when_their_inputs_are(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Same call with same input, whatever the order of its keys."""
    shuffled = dict(reversed(list(copy.deepcopy(one).items())))
    assert compute_fingerprint(one) == compute_fingerprint(shuffled)
    assert (compute_fingerprint(one) == compute_fingerprint(other)) == (one == other)


def test_inputs_that_cannot_be_hashed_are_told_apart_too() -> None:
    """Odd inputs are inputs."""
    loop: list[Any] = []
    loop.append(loop)
    assert (
        compute_fingerprint({"a": {1, 2}})
        == compute_fingerprint({"a": {1, 2}})
        != compute_fingerprint({"a": {1, 3}})
    )
    assert compute_fingerprint(loop) == compute_fingerprint(loop)


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


@pytest.mark.parametrize("steps", [[5, 3, 1], [3, 3, 3], [1, 2], [1, 2, 3], [3, 5, 1000]])
async def test_steps_that_do_not_rise_are_refused(harness: Harness, steps: list[int]) -> None:
    """Bad config → clear error."""
    with pytest.raises(ModuleLoadError, match=r"hooks-progress-monitor: option 'repeats"):
        await mount(harness.coordinator, {"repeats": steps})


async def injected(harness: Harness, tool: str, given: dict[str, Any]) -> str | None:
    return (await harness.call(tool, given))[-1].context_injection


async def test_nudges_escalate_and_end_in_a_question(harness: Harness) -> None:
    """Escalating injected nudges: gentle, firm, and at last an ask_user."""
    async with harness.mounted("progress_monitor"):
        told = [await harness.call("Bash", {"command": "make"}) for _ in range(7)]
    nudges = [result[-1].context_injection for result in told[:6]]
    assert [bool(nudge) for nudge in nudges] == [False, False, True, False, True, False]
    assert "Note: the same call was made 3 times in a row: Bash(make)" in str(nudges[2])
    assert "Stop and think" in str(nudges[4])
    assert told[4][-1].user_message_level == "warning"
    assert told[6][0].action == "ask_user"
    assert "stuck" in str(told[6][0].approval_prompt)


async def test_a_person_who_allows_it_is_not_asked_at_once_again(harness: Harness) -> None:
    """Allowed means allowed: the count begins anew."""
    async with harness.mounted("progress_monitor"):
        same = {"tool_name": "Bash", "tool_input": {"command": "make"}}
        for _ in range(6):
            await harness.call("Bash", {"command": "make"})
        assert (await harness.emit("tool:pre", **same)).action == "ask_user"
        await harness.emit("tool:post", **same, success=True, tool_result={})
        assert (await harness.emit("tool:pre", **same)).action == "continue"


async def test_deny_holds_until_the_agent_does_something_else(harness: Harness) -> None:
    """At last an ask_user or deny, by config."""
    config = {"repeats": [2, 3, 4], "last_resort": "deny"}
    async with harness.mounted("progress_monitor", config):
        answers = [(await harness.call("Bash", {"command": "make"}))[0] for _ in range(6)]
        other = await harness.call("Bash", {"command": "ls"})
        again = await harness.call("Bash", {"command": "make"})
    assert [answer.action for answer in answers] == ["continue"] * 3 + ["deny"] * 3
    assert "4 times in a row" in str(answers[3].reason)
    assert (other[0].action, again[0].action) == ("continue", "continue")


async def test_without_last_resort_nothing_is_ever_stopped(harness: Harness) -> None:
    """`last_resort: none` only nudges."""
    async with harness.mounted("progress_monitor", {"last_resort": "none"}):
        answers = [(await harness.call("Bash", {"command": "make"}))[0].action for _ in range(30)]
    assert set(answers) == {"continue"}


async def test_a_call_that_guards_keep_refusing_counts_too(harness: Harness) -> None:
    """An agent that hammers on a closed door is told at its next request."""
    async with harness.mounted("progress_monitor"):
        for _ in range(3):
            await harness.emit("tool:pre", tool_name="Bash", tool_input={"command": "rm -rf /"})
        result = await harness.emit("provider:request", messages=[])
    assert "3 times in a row" in str(result.context_injection)


async def test_a_new_prompt_and_a_sub_agent_have_counts_of_their_own(harness: Harness) -> None:
    """Turns and sessions are followed each for itself."""
    same = {"tool_name": "Read", "tool_input": {"file_path": "a"}}
    async with harness.mounted("progress_monitor"):
        for _ in range(2):
            await harness.emit("tool:pre", **same)
            await harness.emit("tool:pre", **same, session_id="child", parent_id="test-session")
        await harness.emit("prompt:submit", prompt="next")
        await harness.emit("tool:pre", **same)
        own = await harness.emit("provider:request", messages=[])
        await harness.emit("tool:pre", **same, session_id="child")
        child = await harness.emit("provider:request", messages=[], session_id="child")
    assert own.context_injection is None
    assert "3 times" in str(child.context_injection)


async def test_progress_is_shown_no_more_often_than_the_interval(harness: Harness) -> None:
    """Progress of the run for the user, with sensible throttling."""
    now = 100.0
    monitor = ProgressMonitor(harness.coordinator, Config(interval=10), clock=lambda: now)
    shown = []
    await monitor.on_prompt("prompt:submit", {})
    for number in range(60):
        now += 1
        data = {
            "tool_name": "Edit",
            "tool_input": {"file_path": f"{number}"},
            "success": number != 3,
        }
        shown.append((await monitor.on_result("tool:post", data)).user_message)
    lines = [line for line in shown if line]
    assert len(lines) == 6
    assert lines[0] == "10 tool calls in 10 s (10 Edit), 1 failed; last Edit(9)"
    finished = await monitor.on_complete("orchestrator:complete", {})
    assert finished.user_message == "Finished: 60 tool calls in 60 s (60 Edit), 1 failed"


async def test_a_call_counts_as_failed_only_if_somebody_says_so(harness: Harness) -> None:
    """Loops of the ecosystem say it in the result, or not at all."""
    now = 100.0
    monitor = ProgressMonitor(harness.coordinator, Config(interval=10), clock=lambda: now)
    await monitor.on_prompt("prompt:submit", {})
    for told in ({}, {"result": {"success": True}}, {"result": {"success": False}}):
        now += 20
        call = {"tool_name": "Edit", "tool_input": {"file_path": str(now)}}
        result = await monitor.on_result("tool:post", {**call, **told})
    assert result.user_message is not None
    assert "(3 Edit), 1 failed" in result.user_message


async def test_a_short_turn_is_not_commented(harness: Harness) -> None:
    """Nobody needs a summary of two seconds."""
    async with harness.mounted("progress_monitor"):
        await harness.emit("prompt:submit", prompt="hi")
        await harness.call("Read", {"file_path": "a"})
        assert (await harness.emit("orchestrator:complete", status="success")).user_message is None


async def test_a_check_can_be_turned_off(harness: Harness) -> None:
    """An empty list turns a check off."""
    async with harness.mounted("progress_monitor", {"repeats": []}):
        assert [await injected(harness, "Bash", {"command": "x"}) for _ in range(9)] == [None] * 9
