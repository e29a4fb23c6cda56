"""The file that a tool call changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_core.models import ToolResult
from amplifier_hooks.guards.policy.edited_files import FilePatterns, find_edited_file, format_path
from amplifier_hooks.guards.policy.editing_tools import EDITING_TOOLS


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
