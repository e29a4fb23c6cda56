"""Copilot CLI's events in both spellings: what hooks are told, and what their replies mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation.dialects import claude
from amplifier_foundation.dialects.copilot import CLAUDE_FORM, DIALECT, EVENTS
from amplifier_foundation.dialects.verdict import NOTHING, UNCHANGED, Verdict
from tests.foundation.dialects.conversation import TOOL, Data, make_call, read
from tests.foundation.hooks.shell.hook_files import read_log, specific, write_file
from tests.support.harness import Harness

BASH = {"toolName": "bash", "toolArgs": '{"command": "make"}'}
FAILED = {"success": False, "output": None, "error": "no rule"}

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("preToolUse", TOOL, BASH),
    (
        "postToolUse",
        {**TOOL, "tool_result": {"success": True, "output": "built"}},
        {**BASH, "toolResult": {"resultType": "success", "textResultForLlm": "built"}},
    ),
    (
        "postToolUseFailure",
        {**TOOL, "tool_result": FAILED},
        {
            **BASH,
            "toolResult": {"resultType": "failure", "textResultForLlm": "null"},
            "error": "no rule",
        },
    ),
    ("permissionRequest", TOOL, BASH),
    ("userPromptSubmitted", {"prompt": "Build it"}, {"prompt": "Build it"}),
    ("sessionStart", {"source": "startup"}, {"source": "new", "initialPrompt": ""}),
    ("sessionStart", {"source": "resume"}, {"source": "resume", "initialPrompt": ""}),
    ("sessionEnd", {"reason": "complete"}, {"reason": "complete"}),
    ("agentStop", {}, {"stopReason": "end_turn", "transcriptPath": "/t/1.jsonl"}),
    ("subagentStart", {"agent_name": "critic"}, {"agentName": "critic"}),
    (
        "subagentStop",
        {"agent_name": "critic"},
        {"agentName": "critic", "stopReason": "end_turn"},
    ),
    ("preCompact", {"trigger": "auto"}, {"trigger": "auto", "customInstructions": ""}),
    (
        "notification",
        {"notification_type": "alert", "message": "Look"},
        {"notification_type": "alert", "message": "Look"},
    ),
    (
        "errorOccurred",
        {"error": {"message": "overloaded"}},
        {"error": {"name": "Error", "message": "overloaded"}},
    ),
]
ANY = sorted(EVENTS)
BLOCKING = ("preToolUse", "permissionRequest")


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has; the time in milliseconds."""
    data = {**data, "timestamp": "1970-01-01T00:00:01.500+00:00"}
    call = make_call(native, data, transcript="/t/1.jsonl")
    common = {"sessionId": "session-1", "timestamp": 1500, "cwd": "/project"}
    assert DIALECT.build_payload(call) == {**common, **fields}


def test_every_event_is_told_in_a_test() -> None:
    """A new row in the table needs a new line here."""
    assert {native for native, _, _ in PAYLOADS} == set(EVENTS)


@pytest.mark.parametrize("stamp", [None, "", "yesterday", 7])
def test_a_time_that_is_none_is_the_beginning_of_time(stamp: Any) -> None:
    """A number in any case."""
    assert DIALECT.build_payload(make_call("agentStop", {"timestamp": stamp}))["timestamp"] == 0


def test_a_result_that_is_no_text_is_written_as_json() -> None:
    """The model would read it so."""
    data = {**TOOL, "tool_result": {"success": True, "output": {"lines": 3}}}
    result = DIALECT.build_payload(make_call("postToolUse", data))["toolResult"]
    assert result["textResultForLlm"] == '{"lines": 3}'


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Bash", "bash"),
        ("Read", "view"),
        ("Write", "create"),
        ("Edit", "edit"),
        ("Glob", "glob"),
        ("Grep", "grep"),
        ("Delegate", "task"),
    ],
)
def test_tools_have_the_names_that_scripts_look_for(ours: str, theirs: str) -> None:
    """Matchers may be written with ours as well, and must fit the whole name."""
    call = make_call("preToolUse", {**TOOL, "tool_name": ours})
    assert DIALECT.build_payload(call)["toolName"] == theirs
    assert DIALECT.matches(theirs, DIALECT.list_matched(call))
    assert DIALECT.matches(ours, DIALECT.list_matched(call))
    assert not DIALECT.matches(theirs[:-1], DIALECT.list_matched(call))


def test_a_notification_is_matched_by_its_type_and_a_session_by_nothing() -> None:
    """Only tools and notifications have matchers."""
    call = make_call("notification", {"notification_type": "alert"})
    assert DIALECT.list_matched(call) == ("alert",)
    assert DIALECT.list_matched(make_call("sessionStart", {"source": "new"})) == ()


@pytest.mark.parametrize("form", [DIALECT, CLAUDE_FORM])
def test_scripts_find_the_project_in_their_environment(form: Any) -> None:
    """Under both names, in both spellings."""
    assert form.build_environment(make_call("x")) == {
        "COPILOT_PROJECT_DIR": "/project",
        "CLAUDE_PROJECT_DIR": "/project",
    }


# Replies


@pytest.mark.parametrize("native", ANY)
def test_code_2_blocks_at_the_gates_and_is_a_failure_elsewhere(native: str) -> None:
    """There is nothing to block after the fact."""
    verdict = read(DIALECT, native, code=2, stderr="no")
    if native in BLOCKING:
        assert verdict == Verdict("deny", "no")
    else:
        assert verdict == Verdict(warnings=("Hook 'hook' exited with 2: no",))


@pytest.mark.parametrize("native", ANY)
def test_a_command_that_fails_before_a_tool_blocks_it(native: str) -> None:
    """Only there; a wrong answer is a failure, too."""
    expected = "deny" if native == "preToolUse" else None
    assert read(DIALECT, native, code=1, stderr="oops").decision == expected
    assert read(DIALECT, native, {"permissionDecision": "maybe"}).decision == expected
    assert read(DIALECT, native, failure="It is gone").decision == expected


@pytest.mark.parametrize(("form", "native"), [(DIALECT, "preToolUse"), (CLAUDE_FORM, "PreToolUse")])
def test_a_timeout_and_a_server_that_fails_let_the_tool_run(form: Any, native: str) -> None:
    """Unless the hook says otherwise."""
    slow = {"failure": "It took too long", "timed_out": True}
    assert read(form, native, **slow) == Verdict(warnings=("It took too long",))
    assert read(form, native, **slow, fail_closed=True).decision == "deny"
    assert read(form, native, failure="Gone", url="https://a.test").decision is None


@pytest.mark.parametrize("native", ANY)
def test_a_block_in_json_is_a_denial_at_every_event(native: str) -> None:
    """What it comes to is up to the event."""
    answer = {"decision": "block", "reason": "no"}
    assert read(DIALECT, native, answer) == Verdict("deny", "no")
    assert read(DIALECT, native, {"decision": "allow"}) == NOTHING


@pytest.mark.parametrize("decision", ["allow", "deny", "ask"])
def test_a_tool_can_be_decided_in_three_ways(decision: Any) -> None:
    """Fields of one event stand at the top."""
    answer = {"permissionDecision": decision, "permissionDecisionReason": "because"}
    assert read(DIALECT, "preToolUse", answer) == Verdict(decision, "because")


@pytest.mark.parametrize("behavior", ["allow", "deny"])
def test_a_permission_request_is_answered_with_a_behaviour(behavior: Any) -> None:
    """And a message."""
    answer = {"behavior": behavior, "message": "because"}
    assert read(DIALECT, "permissionRequest", answer) == Verdict(behavior, "because")


def test_arguments_and_results_can_be_rewritten() -> None:
    """A result with its type or without."""
    assert read(DIALECT, "preToolUse", {"modifiedArgs": {"command": "ls"}}) == Verdict(
        tool_input={"command": "ls"}
    )
    result = {"resultType": "success", "textResultForLlm": "clean"}
    assert read(DIALECT, "postToolUse", {"modifiedResult": result}).output == "clean"
    assert read(DIALECT, "postToolUse", {"modifiedResult": {"a": 1}}).output == {"a": 1}
    assert read(DIALECT, "postToolUse", {}).output is UNCHANGED


@pytest.mark.parametrize("native", ANY)
def test_context_can_be_added_at_every_event(native: str) -> None:
    """And the output of the hook hidden."""
    answer = {"additionalContext": "remember", "suppressOutput": True}
    assert read(DIALECT, native, answer) == Verdict(context=("remember",), quiet=True)


# Claude's spelling


@pytest.mark.parametrize("native", sorted(CLAUDE_FORM.events))
def test_an_event_in_claudes_spelling_gets_claudes_fields(native: str) -> None:
    """With Claude's names of tools."""
    call = make_call(native, {**TOOL, "tool_name": "Todo"})
    assert CLAUDE_FORM.build_payload(call) == claude.DIALECT.build_payload(call)
    assert CLAUDE_FORM.list_matched(call) == claude.DIALECT.list_matched(call)
    assert DIALECT.find_form(native) is CLAUDE_FORM


@pytest.mark.parametrize("native", sorted(CLAUDE_FORM.events))
def test_it_is_answered_as_claude_is(native: str) -> None:
    """By code, by JSON and by fields of one event."""
    assert read(CLAUDE_FORM, native, code=2, stderr="no") == Verdict("deny", "no")
    assert read(CLAUDE_FORM, native, {"decision": "block"}).decision == "deny"
    answer = specific(native, additionalContext="remember")
    assert read(CLAUDE_FORM, native, answer) == Verdict(context=("remember",))


def test_it_fails_as_copilot_does() -> None:
    """Closed before a tool, open elsewhere."""
    assert read(CLAUDE_FORM, "PreToolUse", code=1).decision == "deny"
    assert read(CLAUDE_FORM, "PostToolUse", code=1).decision is None


# From the file to the agent


async def test_a_hooks_file_works_unchanged_and_its_gate_is_closed(
    harness: Harness, tmp_path: Path
) -> None:
    """Its keys, its variables, its way to rewrite, its failures and its timeouts."""
    log = tmp_path / "log"
    rewrite = """printf '{"modifiedArgs":{"command":"%s"}}' "$WHAT\""""
    hooks = [
        {
            "type": "command",
            "bash": f"tee {log} >/dev/null; {rewrite}",
            "env": {"WHAT": "safe"},
            "timeoutSec": 5,
            "matcher": "bash",
        },
        {"type": "command", "bash": "exit 1", "matcher": "view"},
        {"type": "command", "bash": "sleep 9", "matcher": "create", "timeoutSec": 0.2},
    ]
    content = {"version": 1, "hooks": {"preToolUse": hooks}}
    write_file(tmp_path, ".github/hooks/a.json", content)
    async with harness.mounted("shell", {"settings": [".github/hooks/*.json"]}):
        result = await harness.pre("Bash", command="ls")
        read_ = await harness.pre("Read", file_path="x")
        slow = await harness.pre("Write", file_path="x")
    assert result.data["tool_input"] == {"command": "safe"}
    [seen] = [json.loads(log.read_text())]
    assert (seen["toolName"], json.loads(seen["toolArgs"])) == ("bash", {"command": "ls"})
    assert (read_.action, slow.action) == ("deny", "continue")


async def test_a_file_in_claudes_spelling_works_too(harness: Harness, tmp_path: Path) -> None:
    """With a list of names as its matcher."""
    log = tmp_path / "log"
    content = {"hooks": {"PreToolUse": [{"bash": f"cat >> {log}", "matcher": "Bash|Edit"}]}}
    async with harness.mounted("shell", {"hooks": content, "dialect": "copilot"}):
        await harness.pre("Bash", command="ls")
        await harness.pre("Read", file_path="x")
    [seen] = read_log(log)
    assert seen["tool_name"] == "Bash"
