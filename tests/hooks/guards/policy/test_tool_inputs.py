"""Tools of MCP servers: what their names and the keys of their input tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.guards.policy.tool_inputs import (
    COMMAND_KEYS,
    FILE_KEYS,
    is_mcp_tool,
    is_reading,
    list_commands,
    list_paths,
)


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
