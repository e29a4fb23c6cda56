"""Gemini CLI's tools and ours."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.dialects.gemini import DIALECT
from tests.hooks.coding_agents.dialects.conversation import TOOL, Data, make_call
from tests.hooks.coding_agents.dialects.recordings import read_recording


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("Bash", "run_shell_command"),
        ("Read", "read_file"),
        ("Write", "write_file"),
        ("Edit", "replace"),
        ("Glob", "glob"),
        ("Grep", "grep_search"),
        ("LS", "list_directory"),
        ("Todo", "write_todos"),
        ("Delegate", "invoke_agent"),
        ("WebFetch", "web_fetch"),
        ("WebSearch", "google_web_search"),
        ("Mine", "Mine"),
    ],
)
def test_tools_have_the_names_that_scripts_look_for(ours: str, theirs: str) -> None:
    """Matchers may be written with ours as well."""
    call = make_call("BeforeTool", {**TOOL, "tool_name": ours})
    assert DIALECT.build_payload(call)["tool_name"] == theirs
    assert {ours, theirs} <= set(DIALECT.list_matched(call))
    assert read_recording("gemini", "BeforeTool", tool_name=theirs).data["tool_name"] == ours


def test_an_older_name_is_known() -> None:
    """In matchers as in payloads."""
    old = read_recording("gemini", "BeforeTool", tool_name="search_file_content")
    assert old.data["tool_name"] == "Grep"
    call = make_call("BeforeTool", {**TOOL, "tool_name": "Grep"})
    assert DIALECT.matches("search_file_content", DIALECT.list_matched(call))


@pytest.mark.parametrize(
    ("tool", "ours", "theirs"),
    [
        ("Read", {"file_path": "a", "offset": 3}, {"file_path": "a", "start_line": 3}),
        ("Edit", {"replace_all": True}, {"allow_multiple": True}),
        ("Glob", {"pattern": "*", "path": "a"}, {"pattern": "*", "dir_path": "a"}),
        ("Grep", {"path": "a", "glob": "*.py"}, {"dir_path": "a", "include_pattern": "*.py"}),
        ("LS", {"path": "a"}, {"dir_path": "a"}),
        ("Delegate", {"agent_name": "a", "task": "t"}, {"agent_name": "a", "prompt": "t"}),
        ("Bash", {"command": "ls"}, {"command": "ls"}),
    ],
)
def test_fields_have_the_names_that_scripts_look_for(tool: str, ours: Data, theirs: Data) -> None:
    """In both directions."""
    call = make_call("BeforeTool", {**TOOL, "tool_name": tool, "tool_input": ours})
    assert DIALECT.build_payload(call)["tool_input"] == theirs
    name = DIALECT.translate_tool(tool)
    incoming = read_recording("gemini", "BeforeTool", tool_name=name, tool_input=theirs)
    assert incoming.data["tool_input"] == ours


def test_a_field_cannot_hide_behind_another() -> None:
    """The tool uses its own, whatever else stands there."""
    given = {"dir_path": "/etc", "path": "docs"}
    incoming = read_recording("gemini", "BeforeTool", tool_name="glob", tool_input=given)
    assert incoming.data["tool_input"] == {"path": "/etc"}


@pytest.mark.parametrize(
    ("context", "name"),
    [
        ({"server_name": "demo", "tool_name": "add"}, "mcp__demo__add"),
        ({"server_name": "demo"}, "mcp_demo_add"),
        ("demo", "mcp_demo_add"),
    ],
)
def test_a_tool_of_a_server_has_the_name_that_guards_are_written_for(
    context: object, name: str
) -> None:
    """If Gemini tells which server it is."""
    changed = {"tool_name": "mcp_demo_add", "mcp_context": context}
    assert read_recording("gemini", "BeforeTool", **changed).data["tool_name"] == name


def test_a_command_is_also_judged_where_it_runs() -> None:
    """A relative path in it begins there."""
    given = {"command": "rm x", "dir_path": "my prod"}
    incoming = read_recording("gemini", "BeforeTool", tool_input=given)
    assert incoming.data["tool_input"] == given
    command = "cd 'my prod' && rm x"
    assert incoming.also == ({"tool_name": "Bash", "tool_input": {"command": command}},)


def test_files_that_are_read_at_once_are_judged_one_by_one() -> None:
    """As if each were read alone."""
    given = {"include": ["a.txt", 7, "b/*"]}
    incoming = read_recording("gemini", "BeforeTool", tool_name="read_many_files", tool_input=given)
    paths = [part["tool_input"]["file_path"] for part in incoming.also]
    assert (paths, incoming.also[0]["tool_name"]) == (["a.txt", "b/*"], "Read")
