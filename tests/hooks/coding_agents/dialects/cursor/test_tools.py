"""Cursor's tools under the names that guards are written for."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.cursor_events import (
    is_from_server,
    read_server_tool,
    read_tool,
    restore_fields,
)
from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import Data
from tests.hooks.coding_agents.dialects.cursor.cursor_payloads import read_event

PATCH = "*** Begin Patch\n*** Delete File: a.py\n*** Add File: b.py\n+x\n*** End Patch"


@pytest.mark.parametrize(
    ("name", "given", "ours", "seen"),
    [
        ("Read", {"path": "a"}, "Read", {"file_path": "a"}),
        ("ReadFile", {"target_file": "a"}, "Read", {"file_path": "a"}),
        ("Write", {"path": "a", "contents": "x"}, "Write", {"file_path": "a", "content": "x"}),
        (
            "StrReplace",
            {"path": "a", "old_string": "x"},
            "Edit",
            {"file_path": "a", "old_string": "x"},
        ),
        ("Delete", {"path": "a"}, "Edit", {"file_path": "a"}),
        ("Grep", {"pattern": "x", "path": "a"}, "Grep", {"pattern": "x", "path": "a"}),
        ("MCP:add", {"path": "a"}, "mcp__unknown__add", {"path": "a"}),
        (
            "Task",
            {"subagent_type": "x", "prompt": "y"},
            "Delegate",
            {"agent_name": "x", "task": "y"},
        ),
        ("Odd", {"contents": "x"}, "Odd", {"contents": "x"}),
    ],
)
def test_a_guard_sees_the_tool_that_it_knows(name: str, given: Data, ours: str, seen: Data) -> None:
    """Whatever a version of Cursor calls it and its fields."""
    data = read_event("preToolUse", tool_name=name, tool_input=given).data
    assert (data["tool_name"], data["tool_input"]) == (ours, seen)


@pytest.mark.parametrize(
    "given",
    [
        {"file_path": "harmless", "path": "/etc/shadow"},
        {"path": "harmless", "target_file": "/etc/shadow"},
        {"file_path": "a", "content": "x", "contents": "y"},
    ],
)
def test_two_fields_for_one_thing_are_refused(given: Data) -> None:
    """A guard would look at one and the tool use the other."""
    with pytest.raises(ValueError, match="more than one field says what Write is about"):
        read_tool({"tool_name": "Write", "tool_input": given})


def test_a_changed_input_goes_back_under_the_names_that_came() -> None:
    """A field that came under our name keeps it."""
    changed = {"file_path": "b", "content": "y"}
    given: Data = {"tool_input": {"path": "a", "contents": "x"}}
    assert restore_fields(given, changed) == {"path": "b", "contents": "y"}
    given = {"tool_input": {"file_path": "a", "content": "x"}}
    assert restore_fields(given, changed) == changed


@pytest.mark.parametrize(
    ("payload", "name"),
    [
        ({"tool_name": "add", "mcp_server_name": "demo"}, "mcp__demo__add"),
        ({"tool_name": "MCP:add"}, "mcp__unknown__add"),
        ({"tool_name": "mcp__demo__add"}, "mcp__demo__add"),
    ],
)
def test_the_tool_of_a_server_is_named_after_it(payload: Data, name: str) -> None:
    """So that rules about `mcp__*` hold."""
    assert read_server_tool({**payload, "tool_input": "{}"}) == {
        "tool_name": name,
        "tool_input": {},
    }


@pytest.mark.parametrize(
    ("name", "served"), [("MCP:add", True), ("mcp__a__b", True), ("Shell", False), (None, False)]
)
def test_only_tools_of_servers_are_recognised_as_such(name: Any, served: bool) -> None:
    """Their results can be replaced."""
    assert is_from_server({"tool_name": name}) is served


def test_a_command_is_judged_where_it_runs() -> None:
    """As well as it stands."""
    given = {"command": "make", "working_directory": "/else where"}
    [part] = read_event("preToolUse", tool_input=given).also
    assert part == {"tool_name": "Bash", "tool_input": {"command": "cd '/else where' && make"}}
    same = {"command": "make", "cwd": "/project"}
    assert read_event("preToolUse", tool_input=same).also == ()


def test_each_file_of_a_patch_is_judged() -> None:
    """Under whichever field it comes; one that cannot be read is not let through."""
    parts = read_event("preToolUse", tool_name="ApplyPatch", tool_input={"patch": PATCH}).also
    files = [(one["tool_name"], one["tool_input"]["file_path"]) for one in parts]
    assert files == [("Edit", "/project/a.py"), ("Write", "/project/b.py")]
    with pytest.raises(UnreadablePayload):
        read_event("preToolUse", tool_name="ApplyPatch", tool_input={"patch": PATCH[:-10]})
