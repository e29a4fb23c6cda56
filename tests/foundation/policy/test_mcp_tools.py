"""Tools of MCP servers: what their names and the keys of their input tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_foundation.policy.mcp_tools import (
    MCP_COMMAND_KEYS,
    MCP_PATH_KEYS,
    is_mcp_reading,
    is_mcp_tool,
    list_mcp_commands,
    list_mcp_paths,
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
    assert is_mcp_reading(f"mcp__fs__{name}")


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
    assert not is_mcp_reading(f"mcp__fs__{name}")


def test_a_tool_that_is_no_servers_is_not_judged_by_its_name() -> None:
    """Read is a tool of ours, and guards know it."""
    assert not is_mcp_reading("read_file")


@pytest.mark.parametrize(
    ("given", "paths"),
    [
        ({"path": "a"}, ["a"]),
        ({"paths": ["a", "b"]}, ["a", "b"]),
        ({"source": "a", "destination": "b"}, ["a", "b"]),
        ({"edits": [{"filePath": "a"}]}, ["a"]),
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
    assert list(list_mcp_paths(given, MCP_PATH_KEYS)) == paths


@pytest.mark.parametrize(
    ("given", "commands"),
    [
        ({"command": "ls -l"}, ["ls -l"]),
        ({"cmd": ["rm", "-rf", "a b"]}, ["rm -rf 'a b'"]),
        ({"command": "rm", "args": ["-rf", "/"]}, ["rm -rf /"]),
        ({"command": "rm", "arguments": "-rf /"}, ["rm -rf /"]),
        ({"commands": ["cd x", "rm y"]}, ["cd x", "rm y"]),
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
    assert list_mcp_commands(given, MCP_COMMAND_KEYS) == commands


@pytest.mark.parametrize("value", [7, True, ["a", 7], [["a"]]])
def test_what_is_no_command_is_not_guessed_at(value: Any) -> None:
    """Nobody can judge it."""
    with pytest.raises(ValueError, match="no text under 'command'"):
        list_mcp_commands({"command": value}, MCP_COMMAND_KEYS)


def test_keys_count_in_any_case_of_letters() -> None:
    """Servers in Go do not tell them apart, and nobody knows which of two they take."""
    both = {"command": "ls", "Command": "rm -rf /"}
    assert list_mcp_commands(both, MCP_COMMAND_KEYS) == ["ls", "rm -rf /"]
    split = {"CMD": "find", "Args": [".", "-delete"]}
    assert list_mcp_commands(split, MCP_COMMAND_KEYS) == ["find . -delete"]
    named = {"Path": "/a", "path": "/b", "nested": [{"DESTINATION": "/c"}]}
    assert sorted(list_mcp_paths(named, MCP_PATH_KEYS)) == ["/a", "/b", "/c"]
