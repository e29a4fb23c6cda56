"""Agents that an agent starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_foundation.guests.sessions.other_agents import find_unguarded_agent
from tests.foundation.guests.sessions.agents import start

UNGUARDED = ["claude --bare -p x", "claude --settings '{}' -p x", "opencode --pure run x"]
UNGUARDED += ["CLAUDE_CONFIG_DIR=/x claude -p x", "env -i claude -p x", "env - codex exec x"]
UNGUARDED += ["export CODEX_HOME=/x; codex exec x", "bash -c 'HOME=/x gemini -p x'"]
UNGUARDED += ["npx @anthropic-ai/claude-code@2 --safe-mode", "node /x/gemini.js hooks disable a"]
UNGUARDED += ["gemini hooks disable amplifier", "codex exec --disable hooks x"]
UNGUARDED += ["codex -c features.hooks=false exec x", "codex exec --ignore-user-config x"]
UNGUARDED += ["claude mcp remove list", "codex mcp add x -- y", "npx gemini-cli mcp disable x"]
GUARDED = ["claude -p 'write a hook'", "codex exec x", "codex -c model=gpt-5 exec x", "gemini -p x"]
GUARDED += ["HOME=/x make", "env -i make", "git config x y", "npx hooks config", "claude"]
GUARDED += ["claude mcp", "claude mcp list", "codex mcp get x", "claude -p 'what is mcp add'"]


@pytest.mark.parametrize("command", UNGUARDED)
def test_an_agent_without_its_hooks_is_found(command: str) -> None:
    """By an option, by a variable, or by a command that changes its settings."""
    assert find_unguarded_agent(command) is not None


@pytest.mark.parametrize("command", GUARDED)
def test_other_commands_are_not_taken_for_it(command: str) -> None:
    """An agent with its hooks is judged by them."""
    assert find_unguarded_agent(command) is None


async def test_an_agent_starts_none_without_a_guard(project: Path) -> None:
    """Whatever the bundle says."""
    async with start("claude", project) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "claude --bare -p x"})
        other = await one.tell("PreToolUse", tool_input={"command": "claude -p x"})
    assert verdict.decision == "deny"
    assert "without its guard" in str(verdict.reason)
    assert other.decision is None
