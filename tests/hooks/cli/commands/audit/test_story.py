"""What happened, told from records."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_audit import Record
from amplifier_hooks.cli.commands.audit.story import Story
from amplifier_hooks.cli.text.fragments import join_text


def make_record(type: str, body: dict[str, Any], event: Any = None, /, **more: Any) -> Record:
    time = "2026-11-17T03:25:13.018173623Z"
    source = {"session": "s1", "turn": 1, "hook": None, "registration": None}
    return {"seq": 0, "time": time, "event": event, **source, **more, "type": type, "body": body}


def dispatch(event: Any, hooks: Any = (), /, **data: Any) -> Record:
    return make_record(
        "dispatch", {"action": "continue", "hooks": list(hooks), "data": data}, event
    )


def tell(*records: Record) -> list[str]:
    story = Story()
    return [join_text(entry.line) for record in records for entry in story.describe(record)]


CALL = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_call_id": "c1"}
DENY = {"hook": "guard", "action": "deny", "reason": "not here"}
FAILED = {"hook": "mine", "action": "continue", "error": "KeyError: 'x'"}
FAILURE = make_record(
    "hook_failed",
    {"error": "KeyError: 'x'", "at": "a.py:3", "denied": False},
    "tool:pre",
    hook="mine",
)


def test_a_call_is_told_with_its_input_its_denial_and_its_result() -> None:
    """Each on a line; what the dispatch of the result repeats is not said again."""
    result = {"success": True, "output": "a\nb\n", "error": None}
    assert tell(
        dispatch("tool:pre", **CALL),
        make_record("tool_started", {"tool": "Bash"}, "tool:pre"),
        make_record("tool_finished", {"tool": "Bash", "outcome": "returned"}, "tool:pre"),
        dispatch("tool:post", **CALL, tool_result=result, success=True, duration_ms=400),
        dispatch("tool:pre", [DENY], **CALL),
        dispatch("policy:violation", event="tool:pre", hook="guard", reason="not here"),
    ) == [
        "● Bash  ls",
        "✓ Bash  a … 1 more line  0.4 s",
        "● Bash  ls",
        "✗ denied by guard: not here",
    ]


def test_results_of_calls_at_the_same_time_name_their_input() -> None:
    """Else nobody could tell them apart; denied calls are not waited for."""
    other = {**CALL, "tool_input": {"command": "pwd"}, "tool_call_id": "c2"}
    told = tell(
        dispatch("tool:pre", [DENY], **{**CALL, "tool_call_id": "c0"}),
        dispatch("provider:request"),
        dispatch("tool:pre", **CALL),
        dispatch("tool:pre", **other),
        dispatch("tool:error", **other, error={"type": "OSError", "message": "gone"}),
        dispatch("tool:post", **CALL, tool_result={"output": "x"}, success=True),
    )
    assert told[-2:] == ["✗ Bash pwd  gone", "✓ Bash  x  "]


def test_with_decisions_alone_tools_are_told_from_their_own_records() -> None:
    """There is no event to tell them from."""
    assert tell(
        make_record("log_opened", {"level": "decisions"}),
        make_record("tool_started", {"tool": "Bash"}),
        make_record(
            "tool_finished", {"tool": "Bash", "outcome": "returned", "success": True, "ms": 40}
        ),
        make_record("tool_finished", {"tool": "Read", "outcome": "raised", "ms": 40}),
        make_record("action_resolved", DENY, "tool:pre", hook="guard"),
    ) == ["● Bash", "✓ Bash  0.0 s", "✗ Read  0.0 s", "✗ denied by guard: not here"]


@pytest.mark.parametrize(
    ("outcome", "line"),
    [("unknown", "! Bash: how it ended is not known"), ("cancelled", "✗ Bash was stopped")],
)
def test_a_call_without_a_result_is_told_from_its_end(outcome: str, line: str) -> None:
    """No event tells of it."""
    assert tell(make_record("tool_finished", {"tool": "Bash", "outcome": outcome})) == [line]


def test_a_failure_of_a_hook_is_told_once() -> None:
    """From its own record, with the place, where trails have one; else from the answer."""
    line = "✗ mine failed on tool:pre: KeyError: 'x'"
    assert tell(dispatch("tool:pre", [FAILED], **CALL), FAILURE)[1:] == [line]
    place = make_record("bundle_loaded", {"folder": "/p", "file": "/p/amplifier.yaml"})
    told = tell(place, dispatch("tool:pre", [FAILED], **CALL), FAILURE, FAILURE)
    assert told[1:] == [f"{line} (a.py:3)"] * 2
    old = dispatch("tool:pre", [FAILED], **CALL)
    assert tell(old, old)[1::2] == [line, line]


def test_a_guard_that_failed_says_that_the_call_was_denied() -> None:
    """A person wants to know why nothing ran."""
    body = {"error": "TimeoutError", "at": "", "denied": True}
    (line,) = tell(make_record("hook_failed", body, "tool:pre", hook="guard"))
    assert line == "✗ guard failed on tool:pre: TimeoutError; the call was denied"


def test_what_the_agent_says_is_told_once() -> None:
    """From its pieces, or from the end of the turn where they were not streamed."""
    final = {"final_message": {"role": "assistant", "content": "Hello."}, "status": "success"}
    assert tell(
        dispatch("content_block:delta", delta="Hel"),
        dispatch("content_block:delta", delta="lo."),
        dispatch("content_block:end", block_type="text"),
        dispatch("orchestrator:complete", **final),
        dispatch("orchestrator:complete", **{**final, "status": "interrupted"}),
    ) == ["‹ Hello.", "‹ Hello.", "! the turn ended early: interrupted"]


def test_an_interrupted_reply_is_told_once_and_apart_from_the_next() -> None:
    """As it was kept; its pieces do not run into the next reply."""
    kept = {"role": "assistant", "content": "One\n\n[The reply was interrupted here.]"}
    assert tell(
        dispatch("content_block:delta", delta="One"),
        dispatch("orchestrator:complete", final_message=kept, status="interrupted"),
        dispatch("content_block:delta", delta="Two"),
        dispatch("content_block:end"),
    ) == ["‹ One … 2 more lines", "! the turn ended early: interrupted", "‹ Two"]


def test_a_session_begins_with_its_folder_and_its_bundle() -> None:
    """As far as the trail says; sub-agents are told of where they are called."""
    place = make_record("bundle_loaded", {"folder": "/p", "file": "/p/amplifier.yaml"})
    started = make_record("session_started", {"resumed": True, "parent": None})
    child = make_record("session_started", {"resumed": False, "parent": "s1"})
    assert tell(started) == ["· session resumed"]
    assert tell(place, started, child) == ["· session resumed in /p with amplifier.yaml"]


def test_lines_of_a_sub_agent_bear_its_name() -> None:
    """The others do not."""
    assert tell(
        dispatch("agent:spawn", agent_name="explorer", task="look"),
        {**dispatch("session:fork", child_id="s2", agent_name="explorer"), "session": "s2"},
        {**dispatch("tool:pre", **CALL), "session": "s2"},
        dispatch("cancel:requested", immediate=True),
    ) == ["◆ explorer  look", "explorer: ● Bash  ls", "! stop requested, at once"]


def test_a_sub_agents_end_is_told_by_whoever_called_it() -> None:
    """Without a name of its own it is a sub-agent."""
    child = {"session": "s2"}
    assert tell(
        make_record("session_started", {"parent": "s1"}, None, **child),
        {**dispatch("tool:pre", **CALL), **child},
        make_record("session_ended", {"reason": "complete"}, None, **child),
        make_record("session_ended", {"reason": "complete"}),
    ) == ["sub-agent: ● Bash  ls", "· session ended"]


def test_values_that_are_kept_apart_leave_the_calls_and_the_answers() -> None:
    """The tools and their ends are recorded beside them."""
    hidden = {"$commitment": "abc", "length": 10}

    def hide(event: str, *hooks: Any) -> Record:
        return make_record("dispatch", {"hooks": list(hooks), "data": hidden}, event)

    assert tell(
        hide("prompt:submit"),
        hide("tool:pre"),
        make_record("tool_started", {"tool": "Bash"}),
        make_record("tool_finished", {"tool": "Bash", "outcome": "returned", "ms": 40}),
        hide("tool:post"),
        hide("tool:pre", DENY),
        hide("policy:violation"),
    ) == [
        "› (stored separately; --reveal shows it)",
        "● Bash",
        "✓ Bash  0.0 s",
        "✗ denied by guard: not here",
    ]


def test_an_answer_given_again_does_not_repeat_the_call() -> None:
    """Guards judge once more after a person was asked."""
    again = dispatch("tool:pre", [DENY], **CALL)
    again["body"]["judged_again"] = True
    assert tell(again) == ["✗ denied by guard: not here"]


def test_a_denial_that_no_hook_spoke_is_told_from_the_violation() -> None:
    """Such as a question that could not be put."""
    event = {"event": "tool:pre", "hook": "mine", "reason": "the question cannot be put"}
    told = tell(dispatch("tool:pre", **CALL), dispatch("policy:violation", **event))
    assert told[1:] == ["✗ denied by mine: the question cannot be put"]
    refused = make_record("approval_decided", {"allowed": False, "how": "person", "by": "ann"})
    told = tell(dispatch("tool:pre", **CALL), refused, dispatch("policy:violation", **event))
    assert told[1:] == ["✗ refused by ann"]


def test_a_prompt_that_was_changed_says_by_whom() -> None:
    """The prompt is the one that the agent got."""
    changed = [{"hook": "mine", "action": "modify"}]
    assert tell(dispatch("prompt:submit", changed, prompt="do\nit")) == [
        "› do … 1 more line",
        "~ mine changed the prompt",
    ]


@pytest.mark.parametrize("odd", [None, 7, [], {}, {"$cut": "x"}, "\x1b[2J", True])
@pytest.mark.parametrize("type", ["dispatch", "approval_decided", "session_ended", "tool_finished"])
def test_no_record_breaks_the_story(type: str, odd: Any) -> None:
    """Whoever can write the files can write anything; nothing of it steers the terminal."""
    keys = ("data", "hooks", "stats", "by", "how", "ms", "tool", "body", "reason", "outcome")
    events = ("tool:pre", "tool:post", "provider:retry", "agent:complete", "prompt:submit", odd)
    for event in events:
        body = dict.fromkeys(keys, odd)
        data = dict.fromkeys(("tool_input", "tool_result", "duration_ms", "prompt", "error"), odd)
        for one in (body, {**body, "data": data}):
            told = tell(make_record(type, one, event, hook=odd, session=odd, time=str(odd)))
            assert "\x1b" not in "".join(told)


def test_shadow_mode_is_told_with_what_would_have_been() -> None:
    """Nobody who reads the story may believe that the hooks held."""
    started = make_record("session_started", {"shadow": True})
    would = make_record(
        "shadowed", {"action": "deny", "would": "would have denied the call: no"}, hook="guard"
    )
    assert tell(started, would)[1:] == [
        "! shadow mode: hooks were evaluated, and none had an effect",
        "! shadow: guard would have denied the call: no",
    ]


def test_what_a_hook_said_behind_a_denial_is_told_as_that() -> None:
    """It had no effect."""
    later = {"hook": "other", "action": "modify", "unheeded": True}
    assert tell(dispatch("tool:pre", [DENY, later], **CALL))[1:] == [
        "✗ denied by guard: not here",
        "· other also said modify",
    ]


def test_the_origins_of_a_call_are_told_below_it() -> None:
    """Each argument once, in words; they are recorded before the event of the call."""
    place = {"tool": "list_inbox", "call": "c0", "field": "body"}
    values = [
        {"argument": "to", "label": "text", "digest": "d1", **place},
        {"argument": "to", "label": "text", "digest": "d2", **place},
        {"argument": "subject", "label": "user", "digest": "d3"},
    ]
    judged = dispatch("provenance:judged", tool_name="Bash", tool_call_id="c1", values=values)
    assert tell(judged, dispatch("tool:pre", **CALL), dispatch("tool:pre", **CALL)) == [
        "● Bash  ls",
        "  origins: to from a text (list_inbox → body); subject from your words",
        "● Bash  ls",
    ]
