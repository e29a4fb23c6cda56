"""Claude Code's events: what its hooks are told, and what their replies mean."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_foundation.dialects.claude import DIALECT, EVENTS, build_response
from amplifier_foundation.dialects.verdict import NOTHING, UNCHANGED, Verdict
from tests.foundation.dialects.conversation import TOOL, Data, make_call, read
from tests.foundation.hooks.shell.hook_files import specific

COMMON = {
    "session_id": "session-1",
    "transcript_path": "/t/1.jsonl",
    "cwd": "/project",
    "permission_mode": "default",
}
BASH = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "call-1"}
RESULT = {**TOOL, "tool_result": {"success": True, "output": "built", "error": None}}
FAILURE = {**TOOL, "tool_result": {"success": False, "output": None, "error": "no rule"}}
STOPPED = {"stop_hook_active": False, "background_tasks": [], "session_crons": []}

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("PreToolUse", TOOL, BASH),
    (
        "PostToolUse",
        RESULT,
        {**BASH, "tool_response": {"success": True, "output": "built"}, "duration_ms": 7},
    ),
    (
        "PostToolUseFailure",
        FAILURE,
        {**BASH, "error": "no rule", "is_interrupt": False, "duration_ms": 7},
    ),
    (
        "PermissionRequest",
        TOOL,
        {"tool_name": "Bash", "tool_input": {"command": "make"}},
    ),
    ("PermissionDenied", {**TOOL, "how": "timeout"}, {**BASH, "reason": "timeout"}),
    ("UserPromptSubmit", {"prompt": "Build it"}, {"prompt": "Build it"}),
    ("SessionStart", {"source": "resume"}, {"source": "resume"}),
    ("SessionStart", {}, {"source": "startup"}),
    ("SessionEnd", {"reason": "user_exit"}, {"reason": "prompt_input_exit"}),
    ("SessionEnd", {"reason": "complete"}, {"reason": "other"}),
    (
        "Stop",
        {"final_message": {"content": "Built."}},
        {**STOPPED, "last_assistant_message": "Built."},
    ),
    ("StopFailure", {"error": {"message": "overloaded"}}, {"error": "overloaded"}),
    (
        "SubagentStart",
        {"agent_name": "critic", "child_session_id": "child-7"},
        {"agent_id": "child-7", "agent_type": "critic"},
    ),
    (
        "SubagentStop",
        {"agent_name": "critic", "result": {"output": "Looks good"}},
        {
            **STOPPED,
            "last_assistant_message": "Looks good",
            "agent_id": "critic",
            "agent_type": "critic",
            "agent_transcript_path": "",
        },
    ),
    ("PreCompact", {"trigger": "auto"}, {"trigger": "auto", "custom_instructions": ""}),
    ("PostCompact", {"trigger": "manual"}, {"trigger": "manual", "compact_summary": ""}),
    (
        "Notification",
        {"notification_type": "approval_required", "message": "May I?"},
        {"notification_type": "permission_prompt", "message": "May I?"},
    ),
    (
        "Notification",
        {"notification_type": "awaiting_input", "message": "Next?"},
        {"notification_type": "idle_prompt", "message": "Next?"},
    ),
    (
        "Notification",
        {"notification_type": "alert", "message": "Look"},
        {"notification_type": "alert", "message": "Look"},
    ),
]

# Events whose denial means what that of any other event does.
ANY = sorted(EVENTS)


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has."""
    call = make_call(native, data, transcript="/t/1.jsonl")
    assert DIALECT.build_payload(call) == {**COMMON, "hook_event_name": native, **fields}


def test_every_event_is_told_in_a_test() -> None:
    """A new row in the table needs a new line here."""
    assert {native for native, _, _ in PAYLOADS} == set(EVENTS)


def test_a_sub_agents_event_names_the_sub_agent() -> None:
    """The session's own events have no such field."""
    assert "agent_id" not in DIALECT.build_payload(make_call("PreToolUse", TOOL))
    payload = DIALECT.build_payload(make_call("PreToolUse", TOOL, agent_id="child-7"))
    assert payload["agent_id"] == "child-7"


def test_a_stop_hook_learns_that_it_blocked_before() -> None:
    """So that it does not do so for ever."""
    payload = DIALECT.build_payload(make_call("Stop", {}, blocked_stops=1))
    assert payload["stop_hook_active"] is True


@pytest.mark.parametrize(("ours", "theirs"), [("Todo", "TodoWrite"), ("Delegate", "Task")])
def test_tools_have_the_names_that_scripts_look_for(ours: str, theirs: str) -> None:
    """Most are called the same."""
    payload = DIALECT.build_payload(make_call("PreToolUse", {**TOOL, "tool_name": ours}))
    assert payload["tool_name"] == theirs


@pytest.mark.parametrize(
    ("tool_input", "result", "expected"),
    [
        ({}, {"success": True, "output": "text"}, {"success": True, "output": "text"}),
        (
            {},
            {"success": True, "output": {"stdout": "a", "stderr": ""}},
            {"success": True, "stdout": "a", "stderr": ""},
        ),
        (
            {"file_path": "a.py"},
            {"success": True, "output": "Created"},
            {"success": True, "filePath": "a.py", "output": "Created"},
        ),
        ({}, {"success": False, "output": None}, {"success": False, "output": None}),
        ({}, "bare", {"success": True, "output": "bare"}),
    ],
)
def test_a_response_is_an_object_in_which_scripts_find_their_fields(
    tool_input: Data, result: Any, expected: Data
) -> None:
    """Whether it worked, the file it was about, and whatever the tool said."""
    data = {**TOOL, "tool_input": tool_input, "tool_result": result}
    assert build_response(make_call("PostToolUse", data)) == expected


@pytest.mark.parametrize(
    ("native", "data", "expected"),
    [
        ("PreToolUse", {"tool_name": "Todo"}, {"Todo", "TodoWrite"}),
        ("PermissionRequest", {"tool_name": "Bash"}, {"Bash"}),
        ("PermissionRequest", {}, set()),
        ("SessionStart", {"source": "resume"}, {"resume"}),
        ("SessionEnd", {"reason": "user_exit"}, {"prompt_input_exit"}),
        ("Notification", {"notification_type": "awaiting_input"}, {"idle_prompt"}),
        ("PreCompact", {"trigger": "auto"}, {"auto"}),
        ("PostCompact", {"trigger": "auto"}, {"auto"}),
        ("SubagentStart", {"agent_name": "critic"}, {"critic"}),
        ("SubagentStop", {"agent_name": "critic"}, {"critic"}),
        ("UserPromptSubmit", {"prompt": "x"}, set()),
        ("Stop", {}, set()),
        ("StopFailure", {}, set()),
    ],
)
def test_a_matcher_is_compared_with_the_value_that_tells_occurrences_apart(
    native: str, data: Data, expected: set[str]
) -> None:
    """In the words of Claude, as its files are written in them."""
    assert set(DIALECT.list_matched(make_call(native, data))) == expected


def test_scripts_find_the_project_and_the_session_in_their_environment() -> None:
    """And a mark by which they know whose hook they are."""
    assert DIALECT.build_environment(make_call("Stop")) == {
        "CLAUDE_PROJECT_DIR": "/project",
        "CLAUDE_CODE_SESSION_ID": "session-1",
        "CLAUDECODE": "1",
    }


# Replies


@pytest.mark.parametrize("native", ANY)
def test_code_2_is_a_denial_at_every_event(native: str) -> None:
    """What a denial comes to is up to the event."""
    verdict = read(DIALECT, native, code=2, stderr="no")
    assert verdict == Verdict(decision="deny", reason="no")


@pytest.mark.parametrize("native", ANY)
def test_a_block_in_json_is_a_denial_at_every_event(native: str) -> None:
    """With or without saying which event it is for."""
    answer = {"decision": "block", "reason": "no"}
    assert read(DIALECT, native, answer) == Verdict(decision="deny", reason="no")
    assert read(DIALECT, native, {**answer, **specific(native)}) == Verdict("deny", "no")


@pytest.mark.parametrize("native", ANY)
def test_context_can_be_added_at_every_event(native: str) -> None:
    """Where it ends up is up to the event."""
    verdict = read(DIALECT, native, specific(native, additionalContext="remember"))
    assert verdict == Verdict(context=("remember",))


@pytest.mark.parametrize("native", ANY)
def test_plain_text_is_context_for_a_prompt_and_a_start_only(native: str) -> None:
    """Elsewhere nobody reads it, and it is no failure."""
    expected = ("branch: main",) if native in ("UserPromptSubmit", "SessionStart") else ()
    assert read(DIALECT, native, "branch: main\n") == Verdict(context=expected)


@pytest.mark.parametrize("decision", ["allow", "deny", "ask", "defer"])
def test_a_tool_can_be_decided_in_four_ways(decision: Any) -> None:
    """The reason may stand beside the decision or above it."""
    fields = {"permissionDecision": decision}
    answer = specific("PreToolUse", **fields, permissionDecisionReason="because")
    assert read(DIALECT, "PreToolUse", answer) == Verdict(decision, "because")
    answer = {**specific("PreToolUse", **fields), "reason": "above"}
    assert read(DIALECT, "PreToolUse", answer) == Verdict(decision, "above")


def test_the_newer_decision_wins_over_the_older() -> None:
    """Both may be written, for older versions of the agent."""
    answer = {**specific("PreToolUse", permissionDecision="ask"), "decision": "approve"}
    assert read(DIALECT, "PreToolUse", answer).decision == "ask"
    assert read(DIALECT, "PreToolUse", {"decision": "approve"}).decision == "allow"


def test_an_input_is_rewritten_with_or_without_a_decision() -> None:
    """`allow` is not needed."""
    answer = specific("PreToolUse", updatedInput={"command": "ls"})
    assert read(DIALECT, "PreToolUse", answer) == Verdict(tool_input={"command": "ls"})


@pytest.mark.parametrize("key", ["updatedToolOutput", "updatedMCPToolOutput"])
@pytest.mark.parametrize("output", ["clean", None, {"stdout": "clean"}])
def test_an_output_is_rewritten_with_anything(key: str, output: Any) -> None:
    """Also with nothing: that is not the same as leaving it alone."""
    assert read(DIALECT, "PostToolUse", specific("PostToolUse", **{key: output})).output == output
    assert read(DIALECT, "PostToolUse", specific("PostToolUse")).output is UNCHANGED


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        ({"behavior": "allow"}, Verdict("allow")),
        (
            {"behavior": "allow", "updatedInput": {"command": "ls"}},
            Verdict("allow", tool_input={"command": "ls"}),
        ),
        ({"behavior": "deny", "message": "never"}, Verdict("deny", "never")),
        ({}, NOTHING),
    ],
)
def test_a_permission_request_has_a_form_of_its_own(decision: Data, expected: Verdict) -> None:
    """An object with a behaviour."""
    answer = specific("PermissionRequest", decision=decision)
    assert read(DIALECT, "PermissionRequest", answer) == expected


@pytest.mark.parametrize(
    "decision",
    [{"behavior": "deny", "message": 5}, {"behavior": "maybe"}, {"updatedInput": "ls"}, "deny"],
)
def test_a_permission_of_another_form_is_a_failure(decision: Any) -> None:
    """It must not break the verdicts of the other hooks."""
    answer = specific("PermissionRequest", decision=decision)
    verdict = read(DIALECT, "PermissionRequest", answer)
    assert "answered with a wrong 'hookSpecificOutput.decision" in verdict.warnings[0]
    assert read(DIALECT, "PermissionRequest", answer, fail_closed=True).decision == "deny"


def test_a_session_hook_can_open_the_conversation_and_name_it() -> None:
    """The message comes after the context."""
    answer = specific(
        "SessionStart",
        additionalContext="branch: main",
        initialUserMessage="Go on",
        sessionTitle="Fix the build",
    )
    expected = Verdict(context=("branch: main", "Go on"), title="Fix the build")
    assert read(DIALECT, "SessionStart", answer) == expected


def test_every_answer_can_stop_the_run_speak_to_the_person_and_be_quiet() -> None:
    """Whatever else it says."""
    answer = {"continue": False, "stopReason": "enough", "systemMessage": "m"}
    assert read(DIALECT, "PostToolUse", answer) == Verdict(stop="enough", notes=("m",))
    assert read(DIALECT, "PostToolUse", {"suppressOutput": True}) == Verdict(quiet=True)


def test_an_answer_for_another_event_is_a_failure() -> None:
    """A script that is registered twice may mix them up."""
    verdict = read(DIALECT, "PreToolUse", specific("PostToolUse", additionalContext="x"))
    assert verdict.context == ()
    assert "answered for 'PostToolUse', but was asked about 'PreToolUse'" in verdict.warnings[0]


def test_a_hook_that_goes_on_in_the_background_has_not_answered() -> None:
    """Whatever else stands in the object."""
    assert read(DIALECT, "PreToolUse", {"async": True, "decision": "block"}) == NOTHING


@pytest.mark.parametrize(
    "printed",
    [
        {"decision": "perhaps"},
        {"reason": 5},
        {"hookSpecificOutput": "deny"},
        specific("PreToolUse", permissionDecision="maybe"),
        specific("PreToolUse", updatedInput="ls"),
        '{"decision": "block"',
    ],
)
def test_a_wrong_answer_is_an_open_gate_unless_the_hook_says_otherwise(printed: Any) -> None:
    """Half a denial is none."""
    assert read(DIALECT, "PreToolUse", printed).decision is None
    assert len(read(DIALECT, "PreToolUse", printed).warnings) == 1
    assert read(DIALECT, "PreToolUse", printed, fail_closed=True).decision == "deny"


def test_a_code_of_failure_counts_more_than_the_answer() -> None:
    """Exit code 1 with a denial on stdout is a failure."""
    verdict = read(DIALECT, "PreToolUse", {"decision": "block"}, code=1, stderr="oops")
    assert verdict == Verdict(warnings=("Hook 'hook' exited with 1: oops",))
