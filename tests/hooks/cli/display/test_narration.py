"""The lines that events and messages are worth."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.message_models import TextBlock
from amplifier_hooks.cli.display.narration import (
    OWN,
    RESULT_LINES,
    RunState,
    describe_event,
    describe_message,
    format_duration,
    get_reply_text,
    join_blocks,
    summarize_call,
)
from amplifier_hooks.cli.text.fragments import join_text
from tests.hooks.cli.hostile_text import hostile, is_harmless


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


def lines_of(told: str, /, *, verbose: Any = False, **data: Any) -> list[str]:
    return [join_text(line) for line in describe_event(told, data, verbose=verbose)]


@given(hostile, hostile)
def test_messages_and_calls_are_harmless(text: str, name: str) -> None:
    """What a hook, a tool or a model says moves nothing."""
    result = {"output": text}
    call = {"tool_name": name, "tool_input": {"command": text}, "tool_result": result}
    shown = [
        *describe_message(text, "warning", name),
        *describe_event(events.TOOL_POST, {**call, "success": True}, verbose=True),
        *describe_event(events.TOOL_ERROR, {"tool_name": name, "error": {"message": text}}),
        *describe_event(events.POLICY_VIOLATION, {"event": text, "hook": name, "reason": text}),
        *describe_event(
            events.APPROVAL_DENIED, {"hook": name, "prompt": text, "by": text, "how": text}
        ),
        *describe_event(events.AGENT_SPAWN, {"agent_name": name, "task": text}),
    ]
    assert all(is_harmless(join_text(line)) for line in shown)


@given(st.sampled_from(events.ALL_EVENTS), st.dictionaries(st.text(max_size=8), st.none()))
def test_an_event_without_its_fields_is_described_without_failing(event: str, data: dict) -> None:
    """A display never fails on what a module emits."""
    lines = describe_event(event, data, verbose=True)
    assert all(is_harmless(join_text(line)) for line in lines)


READ = {"tool_name": "Read", "tool_input": {"file_path": "a.py"}}
DENIAL = {"hook": "guard", "reason": "no\nmore", "event": "tool:pre"}
BUSY = {"attempt": 1, "max_attempts": 3, "delay_ms": 2000, "error": {"message": "busy"}}


@pytest.mark.parametrize(
    ("event", "data", "lines"),
    [
        # A call is one line: the tool, what it is about, how much came back, how long it took.
        (
            events.TOOL_POST,
            {**READ, "tool_result": {"output": "x\n" * 300}, "success": True, "duration_ms": 20},
            ["● Read  a.py  300 lines · 0.0 s"],
        ),
        # One about nothing in particular leaves no gap.
        (
            events.TOOL_POST,
            {"tool_name": "Todo", "tool_input": {"todos": []}, "success": True},
            ["● Todo  0.0 s"],
        ),
        # An error that names its provider itself does not name it twice.
        (
            events.PROVIDER_ERROR,
            {"provider": "mine", "error": {"message": "mine (m): down"}},
            ["✗ mine (m): down"],
        ),
        (
            events.PROVIDER_ERROR,
            {"provider": "mine", "error": {"message": "down"}},
            ["✗ mine: down"],
        ),
        # A failed call says why, in the first line of the error, whatever its form.
        (
            events.TOOL_POST,
            {**READ, "tool_result": {"error": "No such file: a.py\nmore"}, "success": False},
            ["✗ Read  a.py  0.0 s", "  No such file: a.py"],
        ),
        (events.TOOL_ERROR, {"tool_name": "Read", "error": "boom"}, ["✗ Read", "  boom"]),
        *(
            (
                events.TOOL_POST,
                {"tool_name": "Read", "tool_result": result, "success": False},
                ["✗ Read  0.0 s", f"  {why}"],
            )
            for result, why in (
                ({"error": {"message": "No such file\nmore", "code": 2}}, "No such file"),
                ({"error": {"code": 2}}, "{'code': 2}"),
                ({"error": None}, "it failed"),
                (None, "it failed"),
            )
        ),
        (
            events.TOOL_POST,
            {"tool_name": "Read", "tool_result": "half of it", "success": False},
            ["✗ Read  0.0 s", "  │ half of it", "  it failed"],
        ),
        # A denial names the call, the hook and the reason; without a call, the event.
        (
            events.POLICY_VIOLATION,
            {**DENIAL, "tool_name": "Bash", "tool_input": {"command": "rm"}},
            ["✗ Bash  rm", "  denied by guard: no"],
        ),
        (
            events.POLICY_VIOLATION,
            {**DENIAL, "event": "prompt:submit"},
            ["✗ denied by guard (prompt:submit): no"],
        ),
        (
            events.POLICY_VIOLATION,
            {**DENIAL, "tool_name": "Bash", "reason": None},
            ["✗ Bash", "  denied by guard: it gave no reason"],
        ),
        # What a person refused has had its line already, with their comment as the agent gets it.
        (events.POLICY_VIOLATION, {"tool_name": "Bash", "refused_by_person": True}, []),
        (
            events.APPROVAL_DENIED,
            {
                "by": "kim",
                "decision": "Deny",
                "hook": "guard",
                "prompt": "Go?",
                "comment": "use a branch\nplease",
            },
            ["✗ refused by kim · Deny  guard: Go?", "  said: use a branch", "        please"],
        ),
        # Retries, sub-agents, a conversation that was compacted.
        (events.PROVIDER_RETRY, BUSY, ["! trying again in 2.0 s (attempt 1 of 3)  busy"]),
        (events.AGENT_SPAWN, {"agent_name": "scout", "task": "look\nround"}, ["◆ scout  look"]),
        (
            events.AGENT_COMPLETE,
            {"agent_name": "scout", "status": "done", "duration_ms": 61_000},
            ["◇ scout  done · 1 min 01 s"],
        ),
        (
            events.CONTEXT_POST_COMPACT,
            {"messages_before": 90, "messages_after": 9},
            ["· the conversation was shortened: 90 messages to 9"],
        ),
    ],
)
def test_an_event_is_told_in_a_line_or_two(
    event: str, data: dict[str, Any], lines: list[str]
) -> None:
    """What happened, to what, and why."""
    assert lines_of(event, **data) == lines


def test_a_verbose_call_shows_the_start_of_its_result() -> None:
    """So many lines, and how many follow."""
    output = "".join(f"{number}\n" for number in range(RESULT_LINES + 5))
    call: dict[str, Any] = {
        "tool_name": "Read",
        "tool_result": {"output": output},
        "success": True,
    }
    head, *result = map(join_text, describe_event(events.TOOL_POST, call, verbose=True))
    assert head == f"● Read  {RESULT_LINES + 5} lines · 0.0 s"
    assert result[0] == "  │ 0"
    assert result[-1] == "  │ … 5 more lines"
    assert len(result) == RESULT_LINES + 1
    assert len(lines_of(events.TOOL_POST, **call)) == 1


def test_messages_stand_out_by_severity() -> None:
    """A sign for each level; a level that nobody knows is information."""
    levels = ("info", "warning", "error", "odd")
    signs = [join_text(describe_message("m", level, "hook:h")[0]) for level in levels]
    assert signs == ["· h: m", "! h: m", "✗ h: m", "· h: m"]


def test_a_message_of_the_command_itself_names_no_hook() -> None:
    """Further lines stand under the first."""
    shown = [join_text(line) for line in describe_message("one\ntwo", "info", OWN)]
    assert shown == ["· one", "  two"]


@pytest.mark.parametrize(
    ("event", "data", "shown"),
    [
        (
            events.APPROVAL_GRANTED,
            {"by": "kim", "decision": "Allow once"},
            "✓ allowed by kim · Allow once",
        ),
        (events.APPROVAL_DENIED, {"by": "kim", "decision": "Deny"}, "✗ refused by kim · Deny"),
        (events.APPROVAL_DENIED, {"how": "timeout"}, "✗ refused · nobody decided in time"),
        (
            events.APPROVAL_GRANTED,
            {"how": "cache", "decision": "Allow always"},
            "✓ allowed · as decided before in this session",
        ),
    ],
)
def test_a_decision_says_who_and_how(event: str, data: dict[str, Any], shown: str) -> None:
    """The option that a person chose, or why there was no person."""
    assert lines_of(event, hook="guard", prompt="Go?", **data) == [f"{shown}  guard: Go?"]


def test_most_events_are_worth_no_line() -> None:
    """Nobody wants to read them all."""
    silent = [event for event in events.ALL_EVENTS if not describe_event(event, {})]
    assert events.TOOL_PRE in silent
    assert len(silent) > len(events.ALL_EVENTS) / 2


@pytest.mark.parametrize(
    ("tool_input", "summary"),
    [
        ({"content": "long", "file_path": "a.py"}, "a.py"),
        ({"command": "ls\nrm"}, "ls"),
        ({"odd": 3, "other": "text"}, "text"),
        ({"odd": 3}, ""),
        (None, ""),
    ],
)
def test_a_call_is_summed_up_by_its_main_field(tool_input: Any, summary: str) -> None:
    """What it acts on, else the first text it has."""
    assert summarize_call(tool_input) == summary


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"content": [TextBlock(text="a"), {"type": "text", "text": "b"}, 7]}, "ab"),
        ({"content": "plain"}, "plain"),
        ({"content": None}, ""),
        (None, ""),
    ],
)
def test_a_reply_is_the_text_of_its_blocks(response: Any, text: str) -> None:
    """As models or as plain data."""
    assert get_reply_text({"response": response}) == text
    assert join_blocks((response or {}).get("content")) == text


@pytest.mark.parametrize(("verbose", "first"), [(False, 5), (True, 0)])
def test_of_a_failed_call_the_last_lines_are_shown(verbose: bool, first: int) -> None:
    """They mostly say why; the error itself is not there twice."""
    rows = [f"row {number}" for number in range(10)]
    result = {"output": "\n".join([*rows, "[exit code 3]"]), "error": "exit code 3"}
    _, *shown = lines_of(
        events.TOOL_POST, verbose=verbose, tool_name="Bash", tool_result=result, success=False
    )
    assert shown == [*(f"  │ {row}" for row in rows[first:]), "  exit code 3"]
