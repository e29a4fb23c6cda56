"""Claude Code's tools: their names, their input, and what they give."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.claude import DIALECT
from amplifier_hooks.coding_agents.dialects.claude.tools import TOOL_EVENTS, build_response
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import read_recording


@pytest.mark.parametrize(("ours", "theirs"), [("Todo", "TodoWrite"), ("Delegate", "Agent")])
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
    data = {**TOOL, "tool_name": "Other", "tool_input": tool_input, "tool_result": result}
    assert build_response(make_call("PostToolUse", data)) == expected


def test_the_result_of_a_shell_stands_where_scripts_look_for_it() -> None:
    """Ours is one text."""
    result = {"success": True, "output": "built", "error": None}
    response = build_response(make_call("PostToolUse", {**TOOL, "tool_result": result}))
    assert (response["stdout"], response["stderr"]) == ("built", "")


def test_a_sub_agents_task_has_their_names() -> None:
    """In both directions."""
    task = {"agent_name": "critic", "task": "Look at it"}
    data = {**TOOL, "tool_name": "Delegate", "tool_input": task}
    theirs = DIALECT.build_payload(make_call("PreToolUse", data))["tool_input"]
    assert theirs == {"subagent_type": "critic", "prompt": "Look at it"}
    assert DIALECT.recognize_input("Delegate", theirs) == task


@pytest.mark.parametrize("name", ["Agent", "Task"])
def test_a_sub_agents_tool_is_known_by_its_old_name_too(name: str) -> None:
    """Older versions of the program, and older hook files, have that."""
    assert read_recording("claude", "PreToolUse", tool_name=name).data["tool_name"] == "Delegate"
    matched = DIALECT.list_matched(make_call("PreToolUse", {**TOOL, "tool_name": "Delegate"}))
    assert set(matched) == {"Delegate", "Agent", "Task"}


@pytest.mark.parametrize(
    ("tool", "given", "part"),
    [
        (
            "NotebookEdit",
            {"notebook_path": "/p/a.ipynb", "new_source": "x = 1", "cell_id": "c"},
            (
                "Edit",
                {"file_path": "/p/a.ipynb", "old_string": "", "new_string": "x = 1"},
            ),
        ),
        ("Monitor", {"command": "tail -f log"}, ("Bash", {"command": "tail -f log"})),
        ("Bash", {"command": "ls"}, None),
        ("mcp__demo__run", {"command": "ls"}, None),
        ("Other", {"command": ["ls"]}, None),
    ],
)
def test_what_runs_a_shell_or_writes_a_file_is_judged_as_that_too(
    tool: str, given: Data, part: tuple[str, Data] | None
) -> None:
    """A guard that is written for Bash knows nothing of the program's other tools."""
    found = read_recording("claude", "PreToolUse", tool_name=tool, tool_input=given)
    expected = () if part is None else ({"tool_name": part[0], "tool_input": part[1]},)
    assert found.also == expected


def test_what_has_run_is_not_taken_apart_again() -> None:
    """Its parts were judged before."""
    given = {"command": "tail -f log"}
    assert read_recording("claude", "PostToolUse", tool_name="Monitor", tool_input=given).also == ()


def test_an_interrupted_tool_failed_in_another_way() -> None:
    """And its duration may be missing."""
    data = read_recording("claude", "PostToolUseFailure", is_interrupt=True, error=None).data
    assert data["error"] == {"type": "Interrupted", "message": ""}


def test_a_tool_that_was_not_permitted_is_told_to_guests() -> None:
    """It was never recorded; its fields are those of the program's schema."""
    payload = {"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "reason": "rule"}
    row = TOOL_EVENTS["PermissionDenied"]
    data = {"tool_name": "Bash", "tool_input": {}, "reason": "rule"}
    assert (row.becomes, row.read_fields(payload)) == ("guest:permission_denied", data)
