"""Cursor's events: what its hooks are told, and what their replies mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.cursor import DIALECT, EVENTS
from amplifier_hooks.external.verdicts import NOTHING, Verdict
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call, read
from tests.hooks.coding_agents.shell_hooks.hook_files import read_log, write_file
from tests.support.harness import Harness

SHELL = {"tool_name": "Shell", "tool_input": {"command": "make"}, "tool_use_id": "call-1"}
RESULT = {**TOOL, "tool_result": {"success": True, "output": "built", "error": None}}
MCP = {**RESULT, "tool_name": "mcp__demo__add", "tool_input": {"a": 1}}
MCP_TOOL = {"tool_name": "mcp__demo__add", "tool_input": {"a": 1}, "tool_use_id": "call-1"}
EDIT = {"old_string": "x", "new_string": "y"}
AGENT = {"agent_name": "critic", "task": "Read it"}

PAYLOADS: list[tuple[str, Data, Data]] = [
    ("preToolUse", TOOL, SHELL),
    ("postToolUse", RESULT, {**SHELL, "tool_output": "built", "duration": 7}),
    (
        "postToolUseFailure",
        {**TOOL, "error": "no rule"},
        {**SHELL, "error_message": "no rule", "failure_type": "error", "duration": 7},
    ),
    ("beforeShellExecution", TOOL, {"command": "make", "sandbox": False}),
    (
        "afterShellExecution",
        RESULT,
        {"command": "make", "sandbox": False, "output": "built", "duration": 7},
    ),
    ("beforeMCPExecution", MCP, MCP_TOOL),
    ("afterMCPExecution", MCP, {**MCP_TOOL, "result_json": "built", "duration": 7}),
    (
        "beforeReadFile",
        {**TOOL, "tool_name": "Read", "tool_input": {"file_path": "a.py"}},
        {"file_path": "a.py", "content": "", "attachments": []},
    ),
    (
        "afterFileEdit",
        {"tool_name": "Edit", "tool_input": {"file_path": "a", **EDIT}},
        {"file_path": "a", "edits": [EDIT]},
    ),
    (
        "afterFileEdit",
        {"tool_name": "Write", "tool_input": {"file_path": "a", "content": "all"}},
        {"file_path": "a", "edits": [{"old_string": "", "new_string": "all"}]},
    ),
    (
        "afterFileEdit",
        {"tool_name": "MultiEdit", "tool_input": {"file_path": "a", "edits": [{"x": 1}]}},
        {"file_path": "a", "edits": [{"x": 1}]},
    ),
    ("beforeSubmitPrompt", {"prompt": "Build it"}, {"prompt": "Build it", "attachments": []}),
    ("subagentStart", AGENT, {"subagent_type": "critic", "task": "Read it"}),
    (
        "subagentStop",
        {**AGENT, "status": "success"},
        {"subagent_type": "critic", "task": "Read it", "status": "success"},
    ),
    ("stop", {"status": "success"}, {"status": "completed", "loop_count": 0}),
    ("stop", {"status": "interrupted"}, {"status": "aborted", "loop_count": 0}),
    ("stop", {"status": "error"}, {"status": "error", "loop_count": 0}),
    ("preCompact", {"trigger": "auto"}, {"trigger": "auto"}),
    ("afterAgentResponse", {"response": "Built."}, {"text": "Built."}),
    ("afterAgentThought", {"thinking": "Hm."}, {"text": "Hm."}),
    (
        "sessionStart",
        {"source": "startup"},
        {"is_background_agent": False, "composer_mode": "agent"},
    ),
    ("sessionEnd", {"reason": "complete"}, {"reason": "complete"}),
    (
        "beforeTabFileRead",
        {"tool_input": {"file_path": "a"}},
        {"file_path": "a", "content": "", "attachments": []},
    ),
    (
        "afterTabFileEdit",
        {"tool_input": {"file_path": "a", **EDIT}},
        {"file_path": "a", "edits": [EDIT]},
    ),
]
ANY = sorted(EVENTS)


@pytest.mark.parametrize(("native", "data", "fields"), PAYLOADS)
def test_a_hook_is_told_the_fields_of_its_event(native: str, data: Data, fields: Data) -> None:
    """And those that every event has."""
    assert DIALECT.build_payload(make_call(native, data)) == {
        "conversation_id": "session-1",
        "session_id": "session-1",
        "generation_id": data.get("tool_call_id", "session-1"),
        "hook_event_name": native,
        "workspace_roots": ["/project"],
        "cwd": "/project",
        "transcript_path": None,
        **fields,
    }


def test_a_stop_hook_learns_how_often_it_blocked() -> None:
    """So that it does not do so for ever."""
    assert DIALECT.build_payload(make_call("stop", {}, blocked_stops=2))["loop_count"] == 2


def test_a_result_is_a_text_in_any_case() -> None:
    """An object is told as JSON."""
    data = {**TOOL, "tool_result": {"success": True, "output": {"stdout": "a"}}}
    payload = DIALECT.build_payload(make_call("postToolUse", data))
    assert payload["tool_output"] == '{"stdout": "a"}'


@pytest.mark.parametrize(
    ("native", "tool", "happens"),
    [
        ("beforeShellExecution", "Bash", True),
        ("beforeShellExecution", "Read", False),
        ("beforeMCPExecution", "mcp__demo__add", True),
        ("beforeMCPExecution", "Bash", False),
        ("beforeReadFile", "Read", True),
        ("beforeReadFile", "Grep", False),
        ("preToolUse", "Bash", True),
    ],
)
def test_some_events_are_for_certain_tools(native: str, tool: str, happens: bool) -> None:
    """The general one happens beside them."""
    assert EVENTS[native].happens_at("tool:pre", {"tool_name": tool}) is happens


@pytest.mark.parametrize("tool", ["Write", "Edit", "MultiEdit", "NotebookEdit"])
def test_an_edit_is_told_when_it_worked(tool: str) -> None:
    """A file that did not change is no edit."""
    row = EVENTS["afterFileEdit"]
    assert row.happens_at("tool:post", {"tool_name": tool, "success": True})
    assert not row.happens_at("tool:post", {"tool_name": tool, "success": False})


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        ("beforeShellExecution", {"make"}),
        ("afterShellExecution", {"make"}),
        ("preToolUse", {"Bash", "Shell"}),
        ("beforeReadFile", {"Bash", "Shell"}),
        ("stop", set()),
        ("sessionStart", set()),
    ],
)
def test_a_matcher_is_compared_with_the_command_or_the_tool(
    native: str, expected: set[str]
) -> None:
    """The shell's events are all about one tool, so its name would say nothing."""
    assert set(DIALECT.list_matched(make_call(native, TOOL))) == expected


# Replies


def test_code_2_is_a_denial_at_every_event() -> None:
    """With the error output as reason."""
    for native in ANY:
        assert read(DIALECT, native, code=2, stderr="no") == Verdict("deny", "no"), native


@pytest.mark.parametrize("native", ANY)
@pytest.mark.parametrize("permission", ["deny", "ask"])
def test_what_the_agent_is_told_is_the_reason(native: str, permission: Any) -> None:
    """What the person is told is shown, and stands in for a reason that is missing."""
    answer = {"permission": permission, "user_message": "for you", "agent_message": "for it"}
    assert read(DIALECT, native, answer) == Verdict(permission, "for it", notes=("for you",))
    del answer["agent_message"]
    assert read(DIALECT, native, answer).reason == "for you"


def test_where_nothing_is_refused_it_is_context() -> None:
    """Beside what is added anyway."""
    for native in ANY:
        answer = {"permission": "allow", "agent_message": "for it", "additional_context": "more"}
        expected = Verdict("allow", context=("more", "for it"))
        assert read(DIALECT, native, answer) == expected, native


def test_messages_may_be_spelt_in_both_ways() -> None:
    """Cursor has had both."""
    answer = {"permission": "deny", "userMessage": "for you", "agentMessage": "for it"}
    assert read(DIALECT, "preToolUse", answer) == Verdict("deny", "for it", notes=("for you",))


def test_a_follow_up_keeps_the_agent_working() -> None:
    """It is the reason for which the stop is refused."""
    answer = {"followup_message": "Run the tests", "agent_message": "x"}
    assert read(DIALECT, "stop", answer) == Verdict("deny", "Run the tests")


def test_not_to_continue_is_a_denial() -> None:
    """Of the prompt, for instance."""
    answer = {"continue": False, "user_message": "No secrets"}
    verdict = read(DIALECT, "beforeSubmitPrompt", answer)
    assert verdict == Verdict("deny", "No secrets", notes=("No secrets",))
    assert read(DIALECT, "beforeSubmitPrompt", {"continue": True}) == NOTHING


def test_inputs_and_results_can_be_rewritten() -> None:
    """Also a result with nothing."""
    answer = {"updated_input": {"command": "ls"}, "updated_mcp_tool_output": None}
    expected = Verdict(tool_input={"command": "ls"}, output=None)
    assert read(DIALECT, "preToolUse", answer) == expected


@pytest.mark.parametrize("printed", [{"permission": "maybe"}, {"continue": "no"}, "{oops"])
def test_a_wrong_answer_is_an_open_gate_unless_the_hook_says_otherwise(printed: Any) -> None:
    """`failClosed` stands in the file."""
    assert read(DIALECT, "preToolUse", printed).decision is None
    assert read(DIALECT, "preToolUse", printed, fail_closed=True).decision == "deny"


# From the file to the agent


async def test_a_hooks_file_works_unchanged(harness: Harness, tmp_path: Path) -> None:
    """Lists of commands, each with its matcher and its failure direction."""
    log = tmp_path / "log"
    answer = {"permission": "deny", "user_message": "for you", "agent_message": "for it"}
    command = f"tee {log} >/dev/null; printf '%s' '{json.dumps(answer)}'"
    hooks = {
        "beforeShellExecution": [{"command": command}],
        "preToolUse": [{"command": "exit 1", "matcher": "Read", "failClosed": True}],
    }
    path = write_file(tmp_path, ".cursor/hooks.json", {"version": 1, "hooks": hooks})
    async with harness.mounted("shell", {"settings": [str(path)]}):
        result = await harness.pre("Bash", command="curl x")
        read_ = await harness.pre("Read", file_path="x")
        write = await harness.pre("Write", file_path="x")
    assert (result.action, result.reason) == ("deny", "for it")
    assert ("for you", "info") in [shown[:2] for shown in harness.shown]
    assert (read_.action, write.action) == ("deny", "continue")
    [seen] = read_log(log)
    assert (seen["command"], seen["workspace_roots"]) == ("curl x", [str(tmp_path)])
