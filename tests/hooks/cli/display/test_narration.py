"""The lines that events and messages are worth."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core import events
from amplifier_core.message_models import TextBlock
from amplifier_hooks.cli.display.narration import (
    OWN,
    RESULT_LINES,
    describe_event,
    describe_message,
    get_reply_text,
    join_blocks,
    summarize_call,
)
from amplifier_hooks.cli.text.fragments import join_text
from tests.hooks.cli.hostile_text import hostile, is_harmless


def lines_of(event: str, /, *, verbose: Any = False, **data: Any) -> list[str]:
    return [join_text(line) for line in describe_event(event, data, verbose=verbose)]


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


def test_calls_are_folded_into_one_line() -> None:
    """The tool, what it is about, how much came back and how long it took."""
    (line,) = lines_of(
        events.TOOL_POST,
        tool_name="Read",
        tool_input={"file_path": "a.py"},
        tool_result={"output": "x\n" * 300},
        success=True,
        duration_ms=20,
    )
    assert line == "● Read  a.py  300 lines · 0.0 s"


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


def test_nothing_is_said_twice_or_left_as_a_gap() -> None:
    """A call that is about nothing in particular; an error that names its provider itself."""
    (line,) = lines_of(events.TOOL_POST, tool_name="Todo", tool_input={"todos": []}, success=True)
    assert line == "● Todo  0.0 s"
    (line,) = lines_of(events.PROVIDER_ERROR, provider="mine", error={"message": "mine (m): down"})
    assert line == "✗ mine (m): down"
    (line,) = lines_of(events.PROVIDER_ERROR, provider="mine", error={"message": "down"})
    assert line == "✗ mine: down"


def test_a_failed_call_says_why() -> None:
    """The first line of the error."""
    lines = lines_of(
        events.TOOL_POST,
        tool_name="Read",
        tool_input={"file_path": "a.py"},
        tool_result={"error": "No such file: a.py\nmore"},
        success=False,
    )
    assert lines == ["✗ Read  a.py  0.0 s", "  No such file: a.py"]
    assert lines_of(events.TOOL_ERROR, tool_name="Read", error="boom") == ["✗ Read", "  boom"]


@pytest.mark.parametrize(
    ("result", "why"),
    [
        ({"error": {"message": "No such file\nmore", "code": 2}}, "No such file"),
        ({"error": {"code": 2}}, "{'code': 2}"),
        ({"error": None}, "it failed"),
        ("half of it", "it failed"),
        (None, "it failed"),
    ],
)
def test_an_error_of_any_form_is_said_in_words(result: Any, why: str) -> None:
    """Tools of the ecosystem give a dict; a loop may tell less than that."""
    *_, line = lines_of(events.TOOL_POST, tool_name="Read", tool_result=result, success=False)
    assert line == f"  {why}"


def test_messages_stand_out_by_severity() -> None:
    """A sign for each level; a level that nobody knows is information."""
    levels = ("info", "warning", "error", "odd")
    signs = [join_text(describe_message("m", level, "hook:h")[0]) for level in levels]
    assert signs == ["· h: m", "! h: m", "✗ h: m", "· h: m"]


def test_a_message_of_the_command_itself_names_no_hook() -> None:
    """Further lines stand under the first."""
    shown = [join_text(line) for line in describe_message("one\ntwo", "info", OWN)]
    assert shown == ["· one", "  two"]


def test_a_denial_names_the_call_the_hook_and_the_reason() -> None:
    """For an event without a call, the event."""
    denial = {"hook": "guard", "reason": "no\nmore", "event": "tool:pre"}
    assert lines_of(
        events.POLICY_VIOLATION, tool_name="Bash", tool_input={"command": "rm"}, **denial
    ) == ["✗ Bash  rm", "  denied by guard: no"]
    assert lines_of(events.POLICY_VIOLATION, **{**denial, "event": "prompt:submit"}) == [
        "✗ denied by guard (prompt:submit): no"
    ]
    assert lines_of(events.POLICY_VIOLATION, **{**denial, "tool_name": "Bash", "reason": None}) == [
        "✗ Bash",
        "  denied by guard: it gave no reason",
    ]


def test_a_comment_stands_below_the_decision() -> None:
    """Every line of it, as the agent gets it."""
    about: dict[str, Any] = {"by": "kim", "decision": "Deny", "hook": "guard", "prompt": "Go?"}
    shown = lines_of(events.APPROVAL_DENIED, **about, comment="use a branch\nplease")
    assert shown == [
        "✗ refused by kim · Deny  guard: Go?",
        "  said: use a branch",
        "        please",
    ]


def test_what_a_person_refused_is_not_told_again_as_a_denial() -> None:
    """The refusal has had its line already."""
    assert lines_of(events.POLICY_VIOLATION, tool_name="Bash", refused_by_person=True) == []


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


def test_waiting_helping_and_shortening_are_worth_a_line() -> None:
    """Retries, sub-agents, a conversation that was compacted."""
    retry = {"attempt": 1, "max_attempts": 3, "delay_ms": 2000, "error": {"message": "busy"}}
    assert lines_of(events.PROVIDER_RETRY, **retry) == [
        "! trying again in 2.0 s (attempt 1 of 3)  busy"
    ]
    assert lines_of(events.AGENT_SPAWN, agent_name="scout", task="look\nround") == ["◆ scout  look"]
    done = {"agent_name": "scout", "status": "done", "duration_ms": 61_000}
    assert lines_of(events.AGENT_COMPLETE, **done) == ["◇ scout  done · 1 min 01 s"]
    compacted = lines_of(events.CONTEXT_POST_COMPACT, messages_before=90, messages_after=9)
    assert compacted == ["· the conversation was shortened: 90 messages to 9"]


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
