"""Agents that an agent starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.installing.record import Record, Records
from amplifier_hooks.coding_agents.sessions.other_agents import find_unguarded_agent
from tests.hooks.coding_agents.sessions.agents import start

UNGUARDED = ["claude --bare -p x", "claude --settings '{}' -p x", "opencode --pure run x"]
UNGUARDED += ["CLAUDE_CONFIG_DIR=/x claude -p x", "env -i claude -p x", "env - codex exec x"]
UNGUARDED += ["export CODEX_HOME=/x; codex exec x", "bash -c 'HOME=/x gemini -p x'"]
UNGUARDED += ["npx @anthropic-ai/claude-code@2 --safe-mode", "node /x/gemini.js hooks disable a"]
UNGUARDED += ["gemini hooks disable amplifier", "codex exec --disable hooks x"]
UNGUARDED += ["codex -c features.hooks=false exec x", "codex exec --ignore-user-config x"]
UNGUARDED += ["claude --dangerously-skip-permissions -p x", "codex --yolo exec x", "gemini -y -p x"]
UNGUARDED += [
    "claude --permission-mode bypassPermissions",
    "claude --permission-mode=bypassPermissions",
]
UNGUARDED += [
    "codex exec --dangerously-bypass-hook-trust x",
    "gemini --acp",
    "sudo -u x claude -p y",
]
UNGUARDED += ["docker run box claude -p x", "ssh host codex exec x", "npx -y @openai/codex --yolo"]
UNGUARDED += ["claude mcp remove list", "codex mcp add x -- y", "npx gemini-cli mcp disable x"]
UNGUARDED += ["claude --plugin-dir x -p y", "claude plugin install x", "codex features disable x"]
UNGUARDED += ["copilot plugin install x", "gemini extensions install x"]
GUARDED = ["claude -p 'write a hook'", "codex exec x", "codex -c model=gpt-5 exec x", "gemini -p x"]
GUARDED += ["HOME=/x make", "env -i make", "git config x y", "npx hooks config", "claude"]
GUARDED += ["claude plugin list", "codex features list", "claude skills"]
GUARDED += ["claude mcp", "claude mcp list", "codex mcp get x", "claude -p 'what is mcp add'"]
NEVER_GUARDED = ["aider -m x", "goose run -t x", "amp -x y", "echo x | amp", "qwen -p x"]
NEVER_GUARDED += ["uvx aider-chat -m x", "python3 -m aider", "npx @qwen-code/qwen-code -p x"]
NEVER_GUARDED += ["droid exec x", "uv tool run aider-chat", "/opt/bin/auggie x", "q chat x"]
NEVER_GUARDED += ["deno run -A npm:@qwen-code/qwen-code -p x", "nix run nixpkgs#goose-cli run"]
NEVER_GUARDED += ["docker run -it --rm ghcr.io/x/qwen-code:1 -p x", "mise exec -- aider -m x"]
NEVER_GUARDED += ["nvm exec 20 qwen -p x", "direnv exec . aider -m x", "fd . -x aider -m {}"]
NEVER_GUARDED += ["codex-acp", "cn -p x", "kimi", "ollama launch x", "npx codebuff x", "vibe -p x"]
NEVER_GUARDED += ["acli rovodev run x", "python3 -m interpreter", "mini -t x", "ccr code x"]
NO_AGENT = ["gh pr list", "HOME=/x gh pr list", "gh extension install x", "mini x", "ollama run x"]
NO_AGENT += ["cursor .", "agent start", "forge test -vv", "docker run qwendb", "cn x", "pi 3"]
NO_AGENT += [
    "goose up",
    "q 'select 1'",
    "npm install @openai/codex",
    "npx prettier codex",
    "ls claude",
]
NO_AGENT += [
    "claude --version",
    "codex login",
    "gemini --help",
    "crush file.txt",
    "git log -- aider",
]


@pytest.mark.parametrize("command", UNGUARDED)
def test_an_agent_without_its_hooks_is_found(command: str) -> None:
    """By an option, by a variable, or by a command that changes its settings."""
    assert find_unguarded_agent(command) is not None


@pytest.mark.parametrize("command", GUARDED)
def test_other_commands_are_not_taken_for_it(command: str) -> None:
    """An agent with its hooks is judged by them."""
    assert find_unguarded_agent(command) is None


@pytest.mark.parametrize("command", NEVER_GUARDED)
def test_an_agent_that_has_no_guard_is_found(command: str) -> None:
    """Whatever runs it, and under each name that it has."""
    assert find_unguarded_agent(command, is_guarded=lambda agent, folder: bool(agent.guard))


@pytest.mark.parametrize("command", NO_AGENT)
def test_what_starts_no_agent_is_not_found(command: str) -> None:
    """Another program of the same name, a package that is only installed, a question to it."""
    assert find_unguarded_agent(command, is_guarded=lambda agent, folder: False) is None


@pytest.mark.parametrize(
    ("command", "found"),
    [
        ("claude-code-acp", False),
        ("gh copilot -p x", True),
        ("cursor agent -p x", True),
        ("agent -p x", True),
        ("claude -p x", False),
        ("cd sub && claude -p x", True),
        ("cd /tmp && claude -p x", True),
        ("cd $x && claude -p y", True),
        ("env -C /tmp claude -p x", True),
        ("codex exec x", True),
    ],
)
def test_a_guard_counts_where_it_was_installed(command: str, found: bool) -> None:
    """An agent that is started in another folder, or is another agent, has none."""
    here = Path("/work")
    seen = find_unguarded_agent(
        command, here, lambda agent, folder: agent.guard == "claude" and folder == here
    )
    assert (seen is not None) == found


async def test_an_agent_starts_another_one_only_if_that_is_guarded(project: Path) -> None:
    """The record of an installation tells, as long as the file is there."""
    settings = project / ".codex" / "hooks.json"
    settings.parent.mkdir()
    settings.write_text("{}")
    record = Record(str(settings), "codex", "project", str(project), "", existed=False, mode=None)
    async with start("claude", project) as one:
        before = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
        Records().save(record, None)
        after = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
        below = await one.tell("PreToolUse", tool_input={"command": "cd /tmp && codex exec x"})
        settings.unlink()
        gone = await one.tell("PreToolUse", tool_input={"command": "codex exec x"})
    assert [one.decision for one in (before, after, below, gone)] == ["deny", None, "deny", "deny"]


async def test_an_agent_starts_none_without_a_guard(project: Path) -> None:
    """Whatever the bundle says."""
    async with start("claude", project) as one:
        verdict = await one.tell("PreToolUse", tool_input={"command": "claude --bare -p x"})
        other = await one.tell("PreToolUse", tool_input={"command": "claude -p x"})
    assert verdict.decision == "deny"
    assert "without its guard" in str(verdict.reason)
    assert other.decision is None
