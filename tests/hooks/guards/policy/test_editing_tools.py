"""The tools that change a file."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.agent.tools.filesystem import Edit, MultiEdit, Write
from amplifier_hooks.guards.policy.editing_tools import EDITING_TOOLS, PATH_KEYS, find_path


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
