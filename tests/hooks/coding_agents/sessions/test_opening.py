"""Opening a session."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.sessions.opening import name_session
from amplifier_hooks.coding_agents.sessions.remembering import RememberingApproval
from tests.hooks.coding_agents.sessions.agents import make_project, start

STARTS = """
hooks:
  - {module: greeter, source: ./greeter.py}
"""
GREETER = """
from amplifier_core.models import HookResult

async def mount(coordinator, config=None):
    async def greet(event, data):
        return HookResult(action="inject_context", context_injection="hello from the start")
    return coordinator.hooks.register("session:start", greet, name="greeter")
"""


@pytest.mark.parametrize("theirs", ["../../etc", "a/b", "", "x" * 200, "a\nb", "\udcff", ".hidden"])
def test_an_odd_id_becomes_a_plain_one(theirs: str) -> None:
    """The id of a session is part of file names."""
    name = name_session("claude", theirs)
    assert name.startswith("claude-")
    assert len(name) < 120
    assert "/" not in name
    assert name == name_session("claude", theirs)


def test_a_plain_id_stays() -> None:
    """People find a session by the id that the agent shows."""
    assert name_session("codex", "01a1e201-4a3b") == "codex-01a1e201-4a3b"


async def test_what_hooks_say_at_the_start_reaches_the_agent(home: Path, tmp_path: Path) -> None:
    """The first event that takes context brings it, and only that one."""
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "greeter.py").write_text(GREETER)
    make_project(folder, STARTS)
    async with start("claude", folder) as one:
        first = await one.tell("SessionStart")
        second = await one.tell("UserPromptSubmit")
    assert any("hello from the start" in text for text in first.context)
    assert not any("hello from the start" in text for text in second.context)


async def test_answers_for_always_are_kept(project: Path) -> None:
    """Whoever is asked, the session remembers."""
    async with start("claude", project) as one:
        assert isinstance(one.guest.coordinator.approval_system, RememberingApproval)


async def test_the_guarded_files_are_out_of_reach(project: Path) -> None:
    """By the tools for files, by the shell, and through a relative path."""
    settings = project / ".claude" / "settings.json"
    async with start("claude", project, guarded=[settings]) as one:
        tries = [
            ("Write", {"file_path": str(settings), "content": "{}"}),
            ("Edit", {"file_path": ".claude/settings.json", "old_string": "a", "new_string": ""}),
            ("Bash", {"command": "echo '{}' > .claude/settings.json"}),
            ("Bash", {"command": "cd .claude && rm settings.json"}),
        ]
        for tool, given in tries:
            verdict = await one.tell("PreToolUse", tool_name=tool, tool_input=given)
            assert verdict.decision == "deny", given
        read = {"file_path": str(settings)}
        assert (await one.tell("PreToolUse", tool_name="Read", tool_input=read)).decision is None
