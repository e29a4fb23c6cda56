"""One event as the rules see it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.guards.rules.occasion import Occasion


def seen(data: dict[str, Any], **keys: Any) -> Occasion:
    return Occasion("tool:pre", data, Path("/project"), **keys)


def test_the_paths_are_those_of_the_input_and_of_the_event_itself() -> None:
    """Some events carry a path beside any tool's input."""
    nested = {"file_path": "a", "edits": [{"path": "b"}, {"notebook_path": "c"}]}
    assert seen({"tool_input": nested, "path": "d"}).paths == ["a", "b", "c", "d"]
    assert seen({"tool_input": None, "path": 7}).paths == []


def test_the_keys_of_paths_and_commands_can_be_chosen() -> None:
    data = {"tool_input": {"target": "a", "file_path": "b", "argv": "ls -l"}}
    occasion = seen(data, path_keys=("target",), command_keys=("argv",))
    assert occasion.paths == ["a", "b"]
    assert [command.name for script in occasion.scripts for command in script.commands] == ["ls"]


def test_a_command_is_read_once() -> None:
    occasion = seen({"tool_input": {"command": "git push"}})
    assert occasion.scripts is occasion.scripts


@pytest.mark.parametrize(("name", "expected"), [("Bash", "Bash"), (None, ""), (7, "7")])
def test_the_tool_is_a_text(name: Any, expected: str) -> None:
    assert seen({"tool_name": name}).tool == expected


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("tool_name", "Bash"),
        ("tool_input.command", "ls"),
        ("tool_input.edits.1.path", "b"),
        ("tool_input.edits.7.path", None),
        ("tool_input.edits.-1.path", None),
        ("tool_input.edits.²", None),
        ("tool_input.command.upper", None),
        ("tool_input.__class__", None),
        ("none", None),
        ("", None),
    ],
)
def test_values_are_looked_up_by_keys_and_numbers_only(dotted: str, expected: Any) -> None:
    """Never by attribute: a rule's text must not reach into Python."""
    data = {
        "tool_name": "Bash",
        "tool_input": {"command": "ls", "edits": [{"path": "a"}, {"path": "b"}]},
    }
    assert seen(data).look_up(dotted) == expected


@given(st.text(max_size=30))
def test_any_name_can_be_looked_up(dotted: str) -> None:
    assert seen({"a": [{"b": 1}]}).look_up(dotted) in (None, 1, [{"b": 1}], {"b": 1})


def test_the_texts_of_a_value_are_its_keys_and_its_leaves() -> None:
    value = {"a": ["b", 1, None], "c": {"d": ("e",)}, 2: {"f"}}
    assert sorted(seen({}).iterate_texts(value)) == ["1", "2", "a", "b", "c", "d", "e", "f"]


def test_data_of_too_many_parts_is_an_error() -> None:
    """A rule that stopped looking in silence would let the rest pass."""
    with pytest.raises(ValueError, match="too many"):
        list(seen({}).iterate_texts(["x"] * 20_000))


def test_an_mcp_tool_has_its_own_keys_beside_those_that_were_chosen() -> None:
    """Servers name files and commands in many ways."""
    given = {"place": "a", "destination": "b", "cmd": "rm", "args": ["x"]}
    occasion = seen({"tool_name": "mcp__fs__x", "tool_input": given}, path_keys=("place",))
    assert occasion.paths == ["a", "b"]
    assert [script.commands[0].text for script in occasion.scripts] == ["rm x"]
