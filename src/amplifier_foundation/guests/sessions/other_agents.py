"""Agents that an agent starts: with their hooks switched off, nobody would judge what they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from amplifier_foundation.bash import Command, list_all_commands

NAME = "guest-other-agents"
_PROGRAMS: Mapping[str, str] = {
    "claude": "claude",
    "claude-code": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "gemini-cli": "gemini",
    "copilot": "copilot",
    "cursor-agent": "cursor",
    "opencode": "opencode",
    "opencode-ai": "opencode",
}
_RUNNERS = frozenset({"bunx", "node", "npm", "npx", "pnpm", "yarn"})
_SWITCHES: Mapping[str, frozenset[str]] = {
    "claude": frozenset({"--bare", "--safe-mode", "--setting-sources", "--settings"}),
    "codex": frozenset({"--disable", "--ignore-user-config", "--profile", "-p"}),
    "opencode": frozenset({"--pure"}),
}
_CONFIG = frozenset({"-c", "--config"})
_EDITORS = frozenset({"config", "hook", "hooks"})
"""Commands of theirs that change their settings."""
_SERVERS = "mcp"
_READING: tuple[list[str], ...] = ([], ["get"], ["help"], ["list"], ["serve"])
"""Commands of theirs that only look at MCP servers, or are one."""
_PLACES = frozenset(
    {"CLAUDE_CODE_SAFE_MODE", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME", "GEMINI_CLI_HOME"}
    | {"GEMINI_CLI_SYSTEM_SETTINGS_PATH", "HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR"}
    | {"OPENCODE_CONFIG_CONTENT", "XDG_CONFIG_HOME"}
)
"""Variables that say where their settings are."""
_EMPTYING = frozenset({"-", "-i", "--ignore-environment"})


def find_unguarded_agent(command: str) -> str | None:
    """The part of a command that starts an agent in a way that may leave its hooks out."""
    commands = list_all_commands(command, NAME)
    moved = _moves_settings(commands)
    for one in commands:
        agent = _find_agent(one)
        if agent is not None and (moved or _switches_off(agent, one)):
            return one.text or str(one.program)
    return None


def _find_agent(command: Command) -> str | None:
    names = [command.name or ""]
    if command.name in _RUNNERS:
        names = [Path(word.value).name.partition("@")[0] for word in command.words if word.value]
        names = [name.removesuffix(".js") for name in names]
    return next((_PROGRAMS[name] for name in names if name in _PROGRAMS), None)


def _moves_settings(commands: Iterable[Command]) -> bool:
    """Whether what is started may look for its settings elsewhere."""
    listed = list(commands)
    emptied = any(one.name == "env" and _list_words(one) & _EMPTYING for one in listed)
    return emptied or any(not _PLACES.isdisjoint(one.assigns) for one in listed)


def _list_words(command: Command) -> frozenset[str]:
    return command.flags | {word.value for word in command.words if word.value}


def _switches_off(agent: str, command: Command) -> bool:
    flags = command.flags
    behind = 3 if command.name in _RUNNERS else 1
    words = [word.value for word in command.arguments]
    first = set(words[:behind])
    if _SERVERS in first and words[words.index(_SERVERS) + 1 :][:1] not in _READING:
        return True  # a gateway may be before the servers
    if not flags.isdisjoint(_SWITCHES.get(agent, ())) or not first.isdisjoint(_EDITORS):
        return True
    about_hooks = any("hook" in (word.value or "hook") for word in command.words)
    return agent == "codex" and about_hooks and not flags.isdisjoint(_CONFIG)
