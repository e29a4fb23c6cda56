"""OpenCode's tools under the names that guards are written for."""

from __future__ import annotations

import pytest

from amplifier_hooks.external.incoming import UnreadablePayload
from tests.hooks.coding_agents.dialects.conversation import Data
from tests.hooks.coding_agents.dialects.opencode.opencode_payloads import read_event

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"
EDIT = {"filePath": "a", "oldString": "x", "newString": "y", "replaceAll": True}


@pytest.mark.parametrize(
    ("name", "given", "ours", "seen"),
    [
        ("read", {"filePath": "a", "limit": 3}, "Read", {"file_path": "a", "limit": 3}),
        (
            "edit",
            EDIT,
            "Edit",
            {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
        ),
        ("grep", {"pattern": "x", "include": "*.py"}, "Grep", {"pattern": "x", "glob": "*.py"}),
        ("glob", {"pattern": "*"}, "Glob", {"pattern": "*"}),
        ("demo_add", {"a": 1}, "demo_add", {"a": 1}),
    ],
)
def test_a_guard_sees_the_tool_that_it_knows(name: str, given: Data, ours: str, seen: Data) -> None:
    """And its fields."""
    incoming = read_event("tool.execute.before", tool_name=name, tool_input=given)
    assert (incoming.data["tool_name"], incoming.data["tool_input"]) == (ours, seen)
    assert incoming.also == ()


def test_a_command_is_judged_where_it_runs() -> None:
    """As well as it stands."""
    given = {"command": "make", "workdir": "/else where"}
    incoming = read_event("tool.execute.before", tool_input=given)
    assert incoming.data["tool_input"] == given
    [part] = incoming.also
    assert part == {"tool_name": "Bash", "tool_input": {"command": "cd '/else where' && make"}}


def test_each_file_of_a_patch_is_judged() -> None:
    """The patch itself can be judged, too."""
    given = {"patchText": PATCH}
    incoming = read_event("tool.execute.before", tool_name="apply_patch", tool_input=given)
    assert incoming.data["tool_name"] == "apply_patch"
    [part] = incoming.also
    assert part["tool_name"] == "Edit"
    assert part["tool_input"]["file_path"] == "/project/a.py"


@pytest.mark.parametrize("given", [{}, {"patchText": 7}, {"patchText": PATCH[:30]}])
def test_a_patch_that_cannot_be_read_is_not_let_through(given: Data) -> None:
    """Nobody knows which files it changes."""
    with pytest.raises(UnreadablePayload):
        read_event("tool.execute.before", tool_name="apply_patch", tool_input=given)
