"""Codex CLI's events: Claude's, with two fields more and fewer answers."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_foundation.dialects import claude
from amplifier_foundation.dialects.codex import DIALECT, EVENTS
from amplifier_foundation.dialects.verdict import UNCHANGED, Verdict
from tests.foundation.dialects.conversation import TOOL, Data, make_call, read
from tests.foundation.hooks.shell.hook_files import configure, make_command, specific
from tests.support.harness import Harness

# What the program hands to its hooks, beside session_id, transcript_path, cwd, hook_event_name.
KEYS: dict[str, set[str]] = {
    "PreToolUse": {"turn_id", "model", "tool_name", "tool_input", "tool_use_id"},
    "PermissionRequest": {"turn_id", "model", "tool_name", "tool_input"},
    "PostToolUse": {"turn_id", "model", "tool_name", "tool_input", "tool_use_id", "tool_response"},
    "UserPromptSubmit": {"turn_id", "model", "prompt"},
    "SessionStart": {"model", "source"},
    "SessionEnd": {"reason"},
    "SubagentStart": {"turn_id", "model", "agent_id", "agent_type"},
    "SubagentStop": {
        "turn_id",
        "model",
        "agent_id",
        "agent_type",
        "stop_hook_active",
        "last_assistant_message",
        "agent_transcript_path",
    },
    "Stop": {"turn_id", "model", "stop_hook_active", "last_assistant_message"},
    "PreCompact": {"turn_id", "model", "trigger"},
    "PostCompact": {"turn_id", "model", "trigger"},
}
ANY = sorted(EVENTS)


@pytest.mark.parametrize("native", ANY)
def test_a_hook_finds_every_field_that_the_program_has(native: str) -> None:
    """There may be more of them."""
    payload = DIALECT.build_payload(make_call(native, TOOL))
    assert KEYS[native] <= set(payload)
    assert payload["hook_event_name"] == native
    assert payload["session_id"] == "session-1"


@pytest.mark.parametrize("native", ANY)
def test_the_rest_is_as_claude_tells_it(native: str) -> None:
    """The same scripts work for both."""
    call = make_call(native, TOOL)
    payload = DIALECT.build_payload(call)
    del payload["turn_id"], payload["model"]
    assert payload == claude.DIALECT.build_payload(call)


@pytest.mark.parametrize(
    ("data", "turn", "model"),
    [
        ({"turn_id": "t-3", "model": "m-1"}, "t-3", "m-1"),
        ({"tool_call_id": "call-1"}, "call-1", ""),
        ({}, "", ""),
    ],
)
def test_the_turn_and_the_model_are_texts_in_any_case(data: Data, turn: str, model: str) -> None:
    """A tool call stands for the turn where nothing better is known."""
    payload = DIALECT.build_payload(make_call("Stop", data))
    assert (payload["turn_id"], payload["model"]) == (turn, model)


@pytest.mark.parametrize("native", ["PostToolUseFailure", "Notification", "StopFailure"])
def test_some_of_claudes_events_do_not_exist(native: str) -> None:
    """A file that names one gets a notice."""
    assert DIALECT.find_form(native) is None


@pytest.mark.parametrize("native", ANY)
def test_code_2_is_a_denial_at_every_event(native: str) -> None:
    """With the error output as reason."""
    verdict = read(DIALECT, native, code=2, stderr="no")
    assert (verdict.decision, verdict.reason) == ("deny", "no")


@pytest.mark.parametrize("native", ANY)
def test_a_block_in_json_is_a_denial_at_every_event(native: str) -> None:
    """After a tool it takes the place of the result."""
    verdict = read(DIALECT, native, {"decision": "block", "reason": "no"})
    assert (verdict.decision, verdict.reason) == ("deny", "no")
    assert verdict.withhold == (native == "PostToolUse")


@pytest.mark.parametrize("native", ANY)
def test_context_can_be_added_at_every_event(native: str) -> None:
    """As with Claude."""
    answer = specific(native, additionalContext="remember")
    assert read(DIALECT, native, answer) == Verdict(context=("remember",))


REJECTED: list[tuple[Data, str]] = [
    (specific("PreToolUse", permissionDecision="deny"), "a deny without a reason"),
    (specific("PreToolUse", permissionDecision="ask"), "'permissionDecision: ask'"),
    (specific("PreToolUse", permissionDecision="allow"), "a bare 'allow'"),
    (specific("PreToolUse", updatedInput={}), "'updatedInput' without 'allow'"),
    ({"continue": False}, "'continue: false'"),
    ({"stopReason": "enough"}, "'stopReason'"),
    ({"suppressOutput": True}, "'suppressOutput'"),
    ({"decision": "approve"}, "'decision: approve'"),
]


@pytest.mark.parametrize(("answer", "what"), REJECTED)
def test_most_answers_before_a_tool_are_rejected(answer: Data, what: str) -> None:
    """Then it is as if the hook had failed."""
    verdict = read(DIALECT, "PreToolUse", answer)
    assert verdict == Verdict(warnings=(f"Hook 'hook' answered with {what}, which Codex rejects",))
    assert read(DIALECT, "PreToolUse", answer, fail_closed=True).decision == "deny"


@pytest.mark.parametrize(("answer", "what"), REJECTED)
def test_at_other_events_they_are_not(answer: Data, what: str) -> None:
    """Only tools are so strict."""
    answer = {key: value for key, value in answer.items() if key != "hookSpecificOutput"}
    assert read(DIALECT, "Stop", answer).warnings == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (
            specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="x"),
            Verdict("deny", "x"),
        ),
        (
            specific("PreToolUse", permissionDecision="allow", updatedInput={"command": "ls"}),
            Verdict("allow", tool_input={"command": "ls"}),
        ),
        ({"systemMessage": "look"}, Verdict(notes=("look",))),
    ],
)
def test_a_denial_with_a_reason_and_a_rewrite_with_a_permission_are_accepted(
    answer: Data, expected: Verdict
) -> None:
    """And a message for the person."""
    assert read(DIALECT, "PreToolUse", answer) == expected


def test_a_rejected_answer_with_a_code_is_judged_by_the_code() -> None:
    """Codex reads the output of a success only."""
    assert read(DIALECT, "PreToolUse", {"continue": False}, code=2, stderr="no").decision == "deny"
    verdict = read(DIALECT, "PreToolUse", {"continue": False}, failure="It is gone")
    assert verdict.warnings == ("It is gone",)


def test_no_output_and_no_permitted_input_can_be_rewritten() -> None:
    """Codex knows the keys and does nothing with them."""
    rewritten = specific("PostToolUse", updatedToolOutput="x", updatedMCPToolOutput="y")
    assert read(DIALECT, "PostToolUse", rewritten).output is UNCHANGED
    decision = {"behavior": "allow", "updatedInput": {"command": "ls"}}
    answer = specific("PermissionRequest", decision=decision)
    assert read(DIALECT, "PermissionRequest", answer) == Verdict("allow")


@pytest.mark.parametrize(
    ("answer", "action"),
    [
        (specific("PreToolUse", permissionDecision="deny", permissionDecisionReason="x"), "deny"),
        (specific("PreToolUse", permissionDecision="deny"), "continue"),
        (specific("PreToolUse", permissionDecision="ask"), "continue"),
        (specific("PreToolUse", permissionDecision="allow"), "continue"),
        ({"continue": False}, "continue"),
        ({"decision": "approve"}, "continue"),
        ({"suppressOutput": True}, "continue"),
        ({"decision": "block", "reason": "x"}, "deny"),
    ],
)
async def test_what_is_rejected_goes_ahead(
    harness: Harness, answer: dict[str, Any], action: str
) -> None:
    """From the file to the decision."""
    config = {**configure("PreToolUse", make_command(answer)), "dialect": "codex"}
    async with harness.mounted("shell", config):
        assert (await harness.pre("Bash", command="ls")).action == action
