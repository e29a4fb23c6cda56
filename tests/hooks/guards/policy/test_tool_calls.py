"""The tools that change a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_core.models import ToolResult
from amplifier_hooks.agent.tools.filesystem import Edit, MultiEdit, Write
from amplifier_hooks.guards.policy.tool_calls import (
    COMMAND_KEYS,
    EDITING_TOOLS,
    FILE_KEYS,
    PATH_KEYS,
    FilePatterns,
    find_edited_file,
    find_path,
    format_path,
    is_mcp_tool,
    is_reading,
    list_commands,
    list_paths,
    read_success,
)


def test_our_own_editing_tools_are_among_them() -> None:
    """A guard, a backup and a linter all look at this one list."""
    assert {Write.name, Edit.name, MultiEdit.name} <= EDITING_TOOLS
    assert "Read" not in EDITING_TOOLS


@pytest.mark.parametrize("tool", [Write, Edit, MultiEdit])
def test_our_own_tools_name_the_file_under_a_known_key(tool: Any) -> None:
    """A tool whose path key is missing here would escape guards and backups."""
    assert set(tool.input_model.model_fields) & set(PATH_KEYS)


@pytest.mark.parametrize(
    ("tool_input", "expected"),
    [
        ({"file_path": "a", "content": "x"}, "a"),
        ({"notebook_path": "n.ipynb"}, "n.ipynb"),
        ({"path": "b"}, "b"),
        ({"path": "b", "file_path": "a"}, "a"),
        ({"file_path": 7, "path": "b"}, "b"),
        ({"file_path": ""}, ""),
        ({"file": "a"}, None),
        ("a", None),
        (None, None),
        ([{"file_path": "a"}], None),
    ],
)
def test_the_path_of_an_input(tool_input: Any, expected: str | None) -> None:
    """The first known key with a text wins; anything else has no path."""
    assert find_path(tool_input) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("mcp__fs__write_file", True), ("MCP__fs__write", True), ("mcp_fs", False), ("Bash", False)],
)
def test_tools_of_servers_are_known_by_their_prefix(name: str, expected: bool) -> None:
    """In any letter case."""
    assert is_mcp_tool(name) is expected


@pytest.mark.parametrize(
    "name",
    [
        "read_file", "readFile", "read-file", "read", "get_info", "list_directory", "search_files",
        "directory_tree", "git_status", "git_diff_staged", "resources/read", "prompts/get",
        "list_updated_files", "get_settings",
    ],
)  # fmt: skip
def test_a_tool_reads_if_its_name_begins_with_a_word_for_that(name: str) -> None:
    """As people name tools."""
    assert is_reading(f"mcp__fs__{name}")


@pytest.mark.parametrize(
    "name",
    [
        "write_file", "readme_update", "update__read_x", "listen", "getaway", "git_commit",
        "move_file", "edit_file", "create_directory", "write_read", "sampling/createMessage",
        "search_and_replace", "searchAndReplace", "find-replace", "get_or_create", "diff_apply",
    ],
)  # fmt: skip
def test_of_any_other_tool_nobody_knows_what_it_does(name: str) -> None:
    """A word that only begins alike is another word, and one for changing counts more."""
    assert not is_reading(f"mcp__fs__{name}")


@pytest.mark.parametrize("name", ["read_file", "Read", "Glob", "Grep", "LS", "readFile", "view"])
def test_any_tool_reads_if_its_name_says_so(name: str) -> None:
    """Those of ours, and those of programs and frameworks."""
    assert is_reading(name)


@pytest.mark.parametrize(
    "name",
    ["Bash", "Write", "Edit", "shell", "terminal", "Terminal", "deploy", "Todo", "LSP_rename"],
)
def test_others_do_not(name: str) -> None:
    """Nobody knows what they do."""
    assert not is_reading(name)


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"path": "a"}, ["a"]),
        ({"paths": ["a", "b"]}, ["a", "b"]),
        ({"source": "a", "destination": "b"}, ["a", "b"]),
        ({"edits": [{"filePath": "a"}]}, ["a"]),
        ({"File-Path": "a", "target_file": "b"}, ["a", "b"]),
        ({"files": {"a": "text of a", "b": {"content": "text of b"}}}, ["a", "b"]),
        ({"files": [{"path": "a", "content": "x"}]}, ["a"]),
        (
            {"input": "*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n*** End Patch"},
            ["a", "b"],
        ),
        ({"source": "x" * 5_000}, []),
        ({"uri": "file:///srv/a%20b"}, ["/srv/a b", "file:///srv/a%20b"]),
        ({"uri": "FILE://localhost/srv/a"}, ["/srv/a", "FILE://localhost/srv/a"]),
        ({"path": "~/a"}, [f"{Path.home()}/a", "~/a"]),
        ({"path": ""}, []),
        ({"path": None}, []),
        ({"text": "a"}, []),
        (None, []),
    ],
)
def test_paths_stand_under_the_keys_that_servers_use(given: Any, paths: list[str]) -> None:
    """As they are given, and as the server may read them."""
    assert list(list_paths(given, FILE_KEYS)) == paths


@pytest.mark.parametrize(
    ("given", "commands"),
    [
        ({"command": "ls -l"}, ["ls -l"]),
        ({"cmd": ["rm", "-rf", "a b"]}, ["rm -rf 'a b'"]),
        ({"command": "rm", "args": ["-rf", "/"]}, ["rm -rf /"]),
        ({"command": "rm", "arguments": "-rf /"}, ["rm -rf /"]),
        ({"commands": ["cd x", "rm y"]}, ["cd x", "rm y"]),
        ({"shellCommand": "ls"}, ["ls"]),
        ({"argv": ["git", "push", "--force"]}, ["git push --force"]),
        ({"args": ["git push --force"]}, ["git push --force"]),
        ({"arguments": {"command": "ls"}}, ["ls"]),
        ({"task": {"label": "x", "command": "rm", "args": ["-rf", "/"]}}, ["rm -rf /"]),
        ({"steps": [{"script": "a"}, {"script": "b"}]}, ["a", "b"]),
        ({"commands": [{"command": "a"}]}, ["a"]),
        ({"command": ""}, []),
        ({"command": None}, []),
        ({"text": "ls"}, []),
        (None, []),
    ],
)
def test_commands_stand_under_the_keys_that_servers_use(given: Any, commands: list[str]) -> None:
    """With the arguments beside them."""
    assert list_commands(given, COMMAND_KEYS) == commands


def test_a_patch_is_a_command_only_where_a_shell_would_run_it() -> None:
    """Codex has its text under `command`; bash would take its first line for a glob."""
    patch = {"command": "*** Begin Patch\n*** Add File: a\n+`x`\n*** End Patch"}
    assert list_commands(patch, COMMAND_KEYS, "apply_patch") == []
    assert list_commands(patch, COMMAND_KEYS, "Bash") == [patch["command"]]
    assert list_commands({"command": "rm x"}, COMMAND_KEYS, "apply_patch") == ["rm x"]


@pytest.mark.parametrize("value", [7, True, ["a", 7], [["a"]]])
def test_what_is_no_command_is_not_guessed_at(value: Any) -> None:
    """Nobody can judge it."""
    with pytest.raises(ValueError, match="no text under 'command'"):
        list_commands({"command": value}, COMMAND_KEYS)


def test_keys_count_in_any_case_of_letters() -> None:
    """Servers in Go do not tell them apart, and nobody knows which of two they take."""
    both = {"command": "ls", "Command": "rm -rf /"}
    assert list_commands(both, COMMAND_KEYS) == ["ls", "rm -rf /"]
    split = {"CMD": "find", "Args": [".", "-delete"]}
    assert list_commands(split, COMMAND_KEYS) == ["find . -delete"]
    named = {"Path": "/a", "path": "/b", "nested": [{"DESTINATION": "/c"}]}
    assert sorted(list_paths(named, FILE_KEYS)) == ["/a", "/b", "/c"]


@pytest.mark.parametrize(
    ("data", "success"),
    [
        ({"success": True}, True),
        ({"success": False, "tool_result": {"success": True}}, False),
        ({"tool_result": {"success": True, "output": "done"}}, True),
        ({"tool_result": ToolResult(success=False)}, False),
        ({"result": {"success": True}}, True),
        ({"result": {"success": False}}, False),
        ({"result": "done"}, None),
        ({"tool_result": {}}, None),
        ({"tool_result": {"success": "yes"}}, None),
        ({}, None),
    ],
)
def test_success_is_read_where_a_loop_says_it(data: dict[str, Any], success: bool | None) -> None:
    """In the event, else in the result under either name; otherwise it is not known."""
    assert read_success(data) is success


def post(**changes: Any) -> dict[str, Any]:
    """The data of tool:post for a successful write."""
    return {
        "tool_name": "Write",
        "tool_input": {"file_path": "a.py"},
        "success": True,
        **changes,
    }


def find(data: dict[str, Any], base: Path) -> Path | None:
    return find_edited_file(data, EDITING_TOOLS, str(base))


@pytest.mark.parametrize(
    ("tool", "key"),
    [("Write", "file_path"), ("Edit", "path"), ("NotebookEdit", "notebook_path")],
)
def test_a_successful_edit_has_a_file(tmp_path: Path, tool: str, key: str) -> None:
    """Whichever editing tool it is, and whichever key names the file."""
    data = post(tool_name=tool, tool_input={key: "sub/../a.py"})
    assert find(data, tmp_path) == tmp_path.resolve() / "a.py"


def test_a_link_is_followed(tmp_path: Path) -> None:
    """What is linted is what was written."""
    (tmp_path / "link.py").symlink_to(tmp_path / "real.py")
    data = post(tool_input={"file_path": "link.py"})
    assert find(data, tmp_path) == tmp_path.resolve() / "real.py"


@pytest.mark.parametrize(
    "changes",
    [
        {"success": False},
        {"tool_name": "Read"},
        {"tool_name": None},
        {"tool_name": ["Write"]},
        {"tool_input": None},
        {"tool_input": {"file_path": ""}},
        {"tool_input": {"file_path": "a\0"}},
        {"tool_input": {"file_path": 7}},
    ],
)
def test_everything_else_has_none(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Failures, other tools and inputs without a usable path are no edits."""
    assert find(post(**changes), tmp_path) is None


@pytest.mark.parametrize(
    ("result", "edited"),
    [
        ({"success": True}, True),
        ({"success": False}, False),
        (ToolResult(success=True, output="done"), True),
        (ToolResult(success=False, output=""), False),
        ("done", False),
        (None, False),
    ],
)
def test_loops_that_say_it_in_the_result_only_are_understood(
    tmp_path: Path, result: Any, edited: bool
) -> None:
    """The event's own `success` is optional."""
    data = post(tool_result=result)
    del data["success"]
    assert (find(data, tmp_path) is not None) is edited


def test_messages_name_the_file_as_people_know_it(tmp_path: Path) -> None:
    """Relative inside the working directory, absolute outside, and always one line."""
    root = tmp_path.resolve()
    assert format_path(root / "src" / "a.py", str(tmp_path)) == "src/a.py"
    assert format_path(Path("/elsewhere/a.py"), str(tmp_path)) == "/elsewhere/a.py"
    assert "\n" not in format_path(root / "a\nb", str(tmp_path))


@pytest.mark.parametrize("globs", [(), ("",), ("*.py", " ")])
def test_globs_that_match_nothing_are_refused(globs: tuple[str, ...]) -> None:
    """A module that would never run is a mistake in the bundle."""
    with pytest.raises(ValidationError):
        TypeAdapter(FilePatterns).validate_python(globs)


def test_usable_globs_are_kept_as_they_are() -> None:
    """They are checked, not changed."""
    assert TypeAdapter(FilePatterns).validate_python(["*.py", "src/**"]) == ("*.py", "src/**")
