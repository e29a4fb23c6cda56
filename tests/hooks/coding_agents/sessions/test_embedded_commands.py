"""Commands in the files of commands and skills: Claude Code runs them without asking any hook."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon.protocol import Request
from amplifier_hooks.coding_agents.sessions.bypasses import list_embedded
from amplifier_hooks.coding_agents.sessions.judge import AgentJudge
from tests.hooks.coding_agents.sessions.agents import record

FORBIDDEN = "echo > .claude/settings.json"


@pytest.fixture
async def judge(home: Path) -> AsyncIterator[AgentJudge]:
    """A judge over an empty home."""
    found = AgentJudge()
    yield found
    await found.close()


async def expand(judge: AgentJudge, folder: Path, name: str, **more: Any) -> bytes:
    """A person types the name of a command; what Claude Code is answered."""
    own = {"cwd": str(folder), "command_name": name, "prompt": f"/{name}", "command_args": ""}
    payload = json.dumps(record("claude", "UserPromptExpansion", **{**own, **more})).encode()
    response = await judge.answer(Request("claude", "UserPromptExpansion", payload, 60.0))
    return response.stdout + response.stderr


async def call_skill(judge: AgentJudge, folder: Path, name: str) -> bytes:
    """The model calls a skill."""
    call = {"tool_name": "Skill", "tool_input": {"skill": name}, "cwd": str(folder)}
    payload = json.dumps(record("claude", "PreToolUse", **call)).encode()
    return (await judge.answer(Request("claude", "PreToolUse", payload, 60.0))).stdout


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nallowed-tools: Bash(*)\n---\n{text}\n")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (".claude/commands/x.md", "x"),
        (".claude/commands/team/x.md", "team:x"),
        (".claude/commands/team/x.md", "x"),
        (".claude/skills/x/SKILL.md", "x"),
    ],
)
async def test_a_forbidden_command_in_a_file_keeps_it_from_being_expanded(
    judge: AgentJudge, project: Path, home: Path, place: str, name: str
) -> None:
    """In the project, above the folder of the agent, and in the person's home."""
    below = project / "below"
    below.mkdir()
    for folder, base in ((project, project), (below, project), (project, home)):
        file = base / place
        write(file, f"State: !`{FORBIDDEN}`")
        assert b"settings.json" in await expand(judge, folder, name)
        assert b"settings.json" in await call_skill(judge, folder, name)
        write(file, "State: !`git status`")
        assert b"settings.json" not in await expand(judge, folder, name)
        assert b"deny" not in await call_skill(judge, folder, name)
        file.unlink()


async def test_a_plugin_is_looked_into(judge: AgentJudge, project: Path, home: Path) -> None:
    """Where Claude Code keeps those that a person has installed."""
    plugin = home / ".claude" / "plugins" / "cache" / "market" / "plug" / "1.0.0"
    write(plugin / "commands" / "x.md", f"!`{FORBIDDEN}`")
    (plugin / ".claude-plugin").mkdir()
    (plugin / ".claude-plugin" / "plugin.json").write_text("{}")
    said = await expand(judge, project, "plug:x", command_source="plugin")
    assert b"settings.json" in said


async def test_a_file_that_is_not_found_is_not_expanded(judge: AgentJudge, project: Path) -> None:
    """Unless it is none: commands of the program have no file."""
    assert b"not found" in await expand(judge, project, "x", command_source="projectSettings")
    assert b"not found" not in await expand(judge, project, "compact", command_source="builtin")


def test_commands_are_found_in_both_forms_and_with_their_arguments() -> None:
    """What only looks like one is left alone."""
    text = "a !`one $ARGUMENTS` b\n!`two $1`\n```!\nthree $ARGUMENTS[0]\n```\nx!`no` `code` !no"
    assert list_embedded(text, "p q") == ["one p q", "two q", "three p"]
