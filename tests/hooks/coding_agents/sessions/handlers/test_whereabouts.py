"""Where a tool call really happens."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import TOOL_PRE
from amplifier_hooks.coding_agents.sessions.handlers.whereabouts import find_elsewhere
from tests.hooks.coding_agents.sessions.agents import read, start

HERE = Path("/p")


def _find(tool: str, given: dict[str, Any], cwd: str = "/p/a b") -> list[dict[str, Any]]:
    incoming = read("claude", "PreToolUse", tool_name=tool, tool_input=given, cwd=cwd)
    return [part["tool_input"] for part in find_elsewhere(incoming, HERE)]


def test_a_command_is_judged_where_it_runs() -> None:
    """It may be a list of words, too."""
    assert _find("Bash", {"command": "rm x"}) == [{"command": "cd '/p/a b' && rm x"}]
    assert _find("Bash", {"command": ["rm", "x y"]}) == [{"command": "cd '/p/a b' && rm 'x y'"}]


def test_a_relative_path_is_judged_where_it_leads() -> None:
    """An absolute one is what it is."""
    assert _find("Write", {"file_path": "x", "content": ""}) == [
        {"file_path": "/p/a b/x", "content": ""}
    ]
    assert _find("Write", {"file_path": "/x", "content": ""}) == []
    assert _find("mcp__fs__write", {"path": "../x"}) == [{"path": "/p/a b/../x"}]


def test_parts_of_a_call_are_moved_as_well() -> None:
    """A tool of the agent that runs a command is a command of ours."""
    assert {"command": "cd '/p/a b' && make"} in _find("Monitor", {"command": "make"})


@pytest.mark.parametrize("cwd", ["/p", "/p/", "/p/x/..", ""])
def test_in_the_folder_of_the_session_nothing_is_judged_twice(cwd: str) -> None:
    """However it is written."""
    assert _find("Bash", {"command": "rm x"}, cwd) == []


async def test_a_denial_there_is_a_denial(project: Path) -> None:
    """Of a call that nobody would mind in the folder of the session."""
    (project / ".claude").mkdir()
    guarded = [project / ".claude" / "settings.json"]
    async with start("claude", project, guarded=guarded) as one:
        given = {"command": "echo > settings.json"}
        here = await one.tell("PreToolUse", tool_input=given)
        there = await one.tell("PreToolUse", tool_input=given, cwd=str(project / ".claude"))
    assert here.decision is None
    assert there.decision == "deny"


async def test_a_hook_that_changes_every_call_changes_it_there_too(project: Path) -> None:
    """The change goes to the agent, once."""
    async with start("claude", project) as one:
        data = {"tool_name": "Bash", "tool_input": {"command": "echo safe"}, "tool_call_id": "t"}
        one.hook(TOOL_PRE, action="modify", data=data)
        verdict = await one.tell("PreToolUse", cwd=str(project / "below"))
    assert verdict.decision is None
    assert verdict.tool_input == {"command": "echo safe"}
