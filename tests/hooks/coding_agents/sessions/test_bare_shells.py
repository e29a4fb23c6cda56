"""Programs that wait for input."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.sessions.bare_shells import find_bare_shell
from tests.hooks.coding_agents.sessions.agents import start

BARE = ["bash", "bash -i", "sudo -u x bash", "python3", "python3.11", "ls; python", "bash -l"]
BARE += ["python3 -i a.py", "psql db", "sqlite3 a.db", "env FOO=1 sh", "nohup bash &", "exec bash"]
GIVEN = ["python3 a.py", "python3 -c 'x'", "echo x | bash", "bash < f", "node -e 1", "git status"]
GIVEN += ["psql -c x db", "ssh host ls -l", "python3 - <<E\nprint(1)\nE", "bash script.sh"]


@pytest.mark.parametrize("command", BARE)
def test_a_program_without_work_is_found(command: str) -> None:
    """It would take what it does from its terminal."""
    assert find_bare_shell(command) is not None


@pytest.mark.parametrize("command", GIVEN)
def test_a_program_that_is_told_what_to_do_is_not(command: str) -> None:
    """What it runs stands in the command."""
    assert find_bare_shell(command) is None


async def test_codex_may_not_start_one(project: Path) -> None:
    """Codex types into it without telling; Claude has no such tool."""
    async with start("codex", project) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "bash"})
        other = await one.tell("PreToolUse", tool_input={"command": "bash script.sh"})
    assert verdict.decision == "deny"
    assert "lets nobody judge what is typed" in str(verdict.reason)
    assert other.decision is None
    async with start("claude", project, "s2") as one:
        assert (await one.tell("PreToolUse", tool_input={"command": "bash"})).decision is None
