"""Gemini CLI's events: what its hooks are told, and what their replies mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation.dialects.gemini import DIALECT, EVENTS
from amplifier_foundation.dialects.verdict import UNCHANGED, Verdict
from amplifier_foundation.hooks.shell.settings import read_settings_file
from tests.foundation.dialects.conversation import TOOL, Data, make_call, read
from tests.foundation.hooks.shell.hook_files import make_command, read_log, write_file
from tests.support.harness import Harness

TIME = "2026-03-04T05:06:07+00:00"
BASH = {"tool_name": "run_shell_command", "tool_input": {"command": "make"}}
MESSAGES = [{"role": "user", "content": "Build it"}, {"role": "assistant", "content": "Yes"}]
REQUEST = {
    "model": "m-1",
    "messages": [{"role": "user", "content": "Build it"}, {"role": "model", "content": "Yes"}],
}

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("BeforeTool", TOOL, BASH),
    (
        "AfterTool",
        {**TOOL, "tool_result": {"success": True, "output": "built"}},
        {**BASH, "tool_response": {"llmContent": "built", "returnDisplay": "built"}},
    ),
    (
        "AfterTool",
        {**TOOL, "error": {"message": "no rule"}, "tool_result": {"output": "partly"}},
        {
            **BASH,
            "tool_response": {
                "llmContent": "partly",
                "returnDisplay": "partly",
                "error": "no rule",
            },
        },
    ),
    ("BeforeAgent", {"prompt": "Build it"}, {"prompt": "Build it"}),
    (
        "AfterAgent",
        {"prompt": "Build it", "final_message": {"content": "Built."}},
        {"prompt": "Build it", "prompt_response": "Built.", "stop_hook_active": False},
    ),
    ("BeforeModel", {"model": "m-1", "messages": MESSAGES}, {"llm_request": REQUEST}),
    (
        "AfterModel",
        {"model": "m-1", "messages": MESSAGES, "response": {"content": "Built."}},
        {
            "llm_request": REQUEST,
            "llm_response": {
                "text": "Built.",
                "candidates": [{"content": {"role": "model", "parts": ["Built."]}}],
            },
        },
    ),
    ("SessionStart", {"source": "resume"}, {"source": "resume"}),
    ("SessionStart", {}, {"source": "startup"}),
    ("SessionEnd", {"reason": "complete"}, {"reason": "exit"}),
    (
        "Notification",
        {"notification_type": "approval_required", "message": "May I?", "metadata": {"a": 1}},
        {"notification_type": "ToolPermission", "message": "May I?", "details": {"a": 1}},
    ),
    (
        "Notification",
        {"notification_type": "alert", "message": "Look"},
        {"notification_type": "alert", "message": "Look", "details": {}},
    ),
    ("PreCompress", {"trigger": "auto"}, {"trigger": "auto"}),
]
ANY = sorted(EVENTS)


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has."""
    call = make_call(native, {**data, "timestamp": TIME}, transcript="/t/1.jsonl")
    assert DIALECT.build_payload(call) == {
        "session_id": "session-1",
        "transcript_path": "/t/1.jsonl",
        "cwd": "/project",
        "hook_event_name": native,
        "timestamp": TIME,
        **fields,
    }


def test_every_event_is_told_in_a_test() -> None:
    """A new row in the table needs a new line here."""
    assert {native for native, _, _ in PAYLOADS} == set(EVENTS)


def test_a_result_that_is_no_text_is_an_object() -> None:
    """As Claude's hooks get it."""
    data = {**TOOL, "tool_result": {"success": True, "output": {"stdout": "a"}}}
    response = DIALECT.build_payload(make_call("AfterTool", data))["tool_response"]
    assert response["llmContent"] == {"success": True, "stdout": "a"}


def test_a_hook_learns_that_it_kept_the_agent_working_before() -> None:
    """So that it does not do so for ever."""
    payload = DIALECT.build_payload(make_call("AfterAgent", {}, blocked_stops=1))
    assert payload["stop_hook_active"] is True


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Bash", "run_shell_command"),
        ("Read", "read_file"),
        ("Write", "write_file"),
        ("Edit", "replace"),
        ("Glob", "glob"),
        ("Grep", "search_file_content"),
        ("Todo", "write_todos"),
        ("Delegate", "Delegate"),
    ],
)
def test_tools_have_the_names_that_scripts_look_for(ours: str, theirs: str) -> None:
    """Matchers may be written with ours as well."""
    call = make_call("BeforeTool", {**TOOL, "tool_name": ours})
    assert DIALECT.build_payload(call)["tool_name"] == theirs
    assert set(DIALECT.list_matched(call)) == {ours, theirs}


@pytest.mark.parametrize(
    ("native", "data", "expected"),
    [
        ("SessionStart", {"source": "resume"}, ("resume",)),
        ("SessionEnd", {}, ("exit",)),
        ("PreCompress", {"trigger": "manual"}, ("manual",)),
        ("Notification", {"notification_type": "approval_required"}, ("ToolPermission",)),
        ("BeforeAgent", {"prompt": "x"}, ()),
        ("BeforeModel", {}, ()),
    ],
)
def test_a_matcher_is_compared_with_the_value_that_tells_occurrences_apart(
    native: str, data: Data, expected: tuple[str, ...]
) -> None:
    """Where there is one."""
    assert DIALECT.list_matched(make_call(native, data)) == expected


def test_scripts_find_the_project_and_the_session_in_their_environment() -> None:
    """Under Gemini's names, and the project under Claude's, too."""
    assert DIALECT.build_environment(make_call("BeforeTool")) == {
        "GEMINI_PROJECT_DIR": "/project",
        "GEMINI_SESSION_ID": "session-1",
        "GEMINI_CWD": "/project",
        "CLAUDE_PROJECT_DIR": "/project",
    }


# Replies


@pytest.mark.parametrize("native", ANY)
def test_code_2_is_a_denial_that_hides_the_result(native: str) -> None:
    """At every event; where there is no result, there is nothing to hide."""
    verdict = read(DIALECT, native, code=2, stderr="no")
    assert verdict == Verdict("deny", "no", withhold=True)


@pytest.mark.parametrize("native", ANY)
@pytest.mark.parametrize(
    ("decision", "expected"),
    [("allow", "allow"), ("approve", "allow"), ("deny", "deny"), ("block", "deny"), ("ask", "ask")],
)
def test_every_event_can_be_decided_in_both_vocabularies(
    native: str, decision: str, expected: Any
) -> None:
    """Gemini took Claude's words over and kept its own."""
    verdict = read(DIALECT, native, {"decision": decision, "reason": "because"})
    assert (verdict.decision, verdict.reason) == (expected, "because")


@pytest.mark.parametrize("native", ANY)
def test_context_can_be_added_at_every_event(native: str) -> None:
    """Where it ends up is up to the event."""
    verdict = read(DIALECT, native, {"hookSpecificOutput": {"additionalContext": "remember"}})
    assert (verdict.decision, verdict.context) == (None, ("remember",))


def test_a_rewritten_input_is_laid_over_the_old_one() -> None:
    """A hook names only what it changes."""
    answer = {"hookSpecificOutput": {"tool_input": {"timeout": 5}}}
    verdict = read(DIALECT, "BeforeTool", answer)
    assert verdict.tool_input == {"command": "make", "timeout": 5}


def test_an_output_can_be_rewritten() -> None:
    """Also with nothing."""
    answer: Data = {"hookSpecificOutput": {"tool_output": None}}
    assert read(DIALECT, "AfterTool", answer).output is None
    assert read(DIALECT, "AfterTool", {}).output is UNCHANGED


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        (
            {"messages": [{"role": "model", "content": "a"}, {"role": "user", "content": "b"}]},
            [{"role": "assistant", "content": "a"}, {"role": "user", "content": "b"}],
        ),
        ({"messages": []}, []),
        ({"messages": "all"}, None),
        ({"messages": [7]}, None),
        ({"model": "m-2"}, None),
    ],
)
def test_a_request_can_be_rewritten_if_its_messages_are_some(
    request_: Data, expected: list[Data] | None
) -> None:
    """With our names of the roles."""
    verdict = read(DIALECT, "BeforeModel", {"hookSpecificOutput": {"llm_request": request_}})
    assert verdict.messages == expected


def test_every_answer_can_stop_the_run_speak_to_the_person_and_be_quiet() -> None:
    """Whatever else it says."""
    answer = {"continue": False, "stopReason": "enough", "systemMessage": "m"}
    verdict = read(DIALECT, "AfterTool", {**answer, "suppressOutput": True})
    assert (verdict.stop, verdict.notes, verdict.quiet) == ("enough", ("m",), True)


def test_a_failure_is_a_warning_unless_the_hook_says_otherwise() -> None:
    """A wrong answer is one, too."""
    for fields in ({"code": 1, "stderr": "oops"}, {"printed": {"decision": "perhaps"}}):
        verdict = read(DIALECT, "BeforeTool", **fields)
        assert (verdict.decision, len(verdict.warnings)) == (None, 1)
        assert not verdict.withhold
        assert read(DIALECT, "BeforeTool", **fields, fail_closed=True).decision == "deny"


# From the file to the agent


async def test_a_settings_file_works_unchanged(harness: Harness, tmp_path: Path) -> None:
    """Its events, its names of tools, its milliseconds and its way to rewrite."""
    log = tmp_path / "log"
    answer = {"hookSpecificOutput": {"tool_input": {"timeout": 5}}}
    command = f"tee {log} >/dev/null; printf '%s' '{json.dumps(answer)}'"
    group = {
        "matcher": "run_shell_.*",
        "hooks": [{"type": "command", "command": command, "timeout": 5000}],
    }
    path = write_file(tmp_path, ".gemini/settings.json", {"hooks": {"BeforeTool": [group]}})
    assert read_settings_file(path, "auto").handlers[0].timeout == 5.0
    async with harness.mounted("shell", {"settings": [str(path)]}):
        result = await harness.pre("Bash", command="ls")
        await harness.pre("Read", file_path="x")
    assert result.data["tool_input"] == {"command": "ls", "timeout": 5}
    [seen] = read_log(log)
    assert seen["tool_name"] == "run_shell_command"


async def test_a_group_in_order_hands_rewrites_on(harness: Harness, tmp_path: Path) -> None:
    """The second hook sees what the first made of the input."""
    log = tmp_path / "log"
    first = make_command({"hookSpecificOutput": {"tool_input": {"command": "pwd"}}})
    group = {"sequential": True, "hooks": [{"command": first}, {"command": f"cat > {log}"}]}
    async with harness.mounted("shell", {"hooks": {"BeforeTool": [group]}}):
        await harness.pre("Bash", command="ls")
    assert read_log(log)[0]["tool_input"] == {"command": "pwd"}


async def test_a_denied_result_is_withheld(harness: Harness) -> None:
    """The agent reads the reason in its place."""
    deny = make_command({"decision": "deny", "reason": "contains keys"})
    result = {"success": True, "output": "k3y", "error": None}
    async with harness.mounted("shell", {"hooks": {"AfterTool": [{"command": deny}]}}):
        outcome = await harness.run(
            "tool:post", tool_name="Bash", tool_input={}, tool_result=result
        )
    assert (outcome.action, outcome.reason) == ("deny", "contains keys")
