"""Agents that an agent starts: without a guard of their own, nobody would judge what they do."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from amplifier_hooks.guards.bash import Command, Workspace, list_all_commands, list_directories
from amplifier_hooks.guards.bash.commands import find_values
from amplifier_hooks.guards.policy.agent_programs import (
    AGENT_PROGRAMS,
    AGENT_VARIABLES,
    AgentProgram,
)

NAME = "guest-other-agents"

IsGuarded = Callable[[AgentProgram, Path], bool]
"""Whether an agent that is started in a folder has a guard there."""

_BY_NAME = {name: program for program in AGENT_PROGRAMS for name in program.names}
_RUN_FIRST = frozenset({"bunx", "node", "npx", "pnpx", "uvx"})
_RUN_BEHIND = {
    "bun": {"x"},
    "deno": {"run", "x"},
    "nix": {"run"},
    "npm": {"exec", "x"},
    "pipx": {"run"},
    "pnpm": {"dlx", "exec"},
    "uv": {"run"},
    "yarn": {"dlx", "exec"},
}
"""Programs that run another one behind one of these words."""
_ELSEWHERE = frozenset(
    {"bwrap", "chroot", "distrobox", "doas", "docker", "kubectl", "nerdctl", "podman", "runuser"}
    | {"ssh", "su", "sudo", "toolbox", "unshare"}
)
"""What they run has other settings: of another person, in a container, on another machine."""
_IMAGES = frozenset({"docker", "nerdctl", "podman"})
_CONFIG = frozenset({"-c", "--config"})
_EDITORS = frozenset({"config", "hook", "hooks"})
"""Commands of theirs that change their settings."""
_BESIDE = frozenset({"extension", "extensions", "features", "mcp", "plugin", "plugins", "skills"})
_READING: tuple[list[str | None], ...] = ([], ["get"], ["help"], ["list"], ["serve"])
"""Commands of theirs that only look at what stands beside the guard, or are an MCP server."""
_INFORMING = frozenset({"--help", "-h", "--version", "-v", "-V"})
_INFORMING_WORDS = frozenset(
    {"auth", "completion", "doctor", "help", "login", "logout", "models", "status"}
    | {"update", "upgrade", "version", *_BESIDE}
)
_PERMISSION_MODES = frozenset({"bypassPermissions", "yolo"})
_EMPTYING = frozenset({"-", "-i", "--ignore-environment"})


def find_unguarded_agent(
    command: str, folder: Path = Path("/"), is_guarded: IsGuarded = lambda agent, folder: True
) -> str | None:
    """The part of a command that starts an agent which no guard may judge."""
    commands = list_all_commands(command, NAME)
    found = [found for one in commands if (found := _find_agent(one)) is not None]
    started = [one for one in found if _is_about(*one[:2])]
    if not started:
        return None
    moved = _moves_settings(commands)
    directories = list_directories(commands, Workspace(folder, Path.home()))
    for agent, one, text in started:
        if moved or _switches_off(agent, one) or not _ELSEWHERE.isdisjoint(one.via):
            return text
        if not _runs_agent(one):
            continue
        here = all(is_guarded(agent, place) for place in directories.known)
        anywhere = directories.complete or is_guarded(agent, Path("/"))
        if not here or not anywhere:
            return text
    return None


def _find_agent(command: Command) -> tuple[AgentProgram, Command, str] | None:
    """The agent that a command is about, and its words as the agent gets them."""
    words = list(command.words)
    if command.name in _BY_NAME:
        return _BY_NAME[command.name], command, command.text or str(command.program)
    behind = _RUN_BEHIND.get(command.name or "")
    values = [word.value for word in words]
    if behind is not None:
        at = next((n for n, value in enumerate(values) if value in behind), None)
        words = [] if at is None else words[at + 1 :]
    elif (command.name or "").startswith(("python", "pypy")) and "-m" in values:
        words = words[values.index("-m") + 1 :]
    elif command.name in _IMAGES and "run" in values:
        at = next((n for n, value in enumerate(values) if _is_image(value)), None)
        words = [] if at is None else words[at:]
    elif command.name not in _RUN_FIRST:
        return None
    while words and words[0].is_flag:
        words.pop(0)
    name = _name_package(words[0].value or "") if words else ""
    if name not in _BY_NAME:
        return None
    inner = replace(command, program=name, words=tuple(words[1:]))
    return _BY_NAME[name], inner, command.text or name


def _name_package(text: str) -> str:
    """`@openai/codex@latest`, `nixpkgs#codex` and `/opt/gemini.js`, without what is around it."""
    name = Path(text).name.removeprefix("npm:").rpartition("#")[2]
    return re.split("[@:]|==", name)[0].removesuffix(".js")


def _is_image(text: str | None) -> bool:
    """`ghcr.io/openai/codex:1`, but no folder that a container gets."""
    return not (text or "/").startswith(("/", ".", "~")) and _name_package(text or "") in _BY_NAME


def _moves_settings(commands: Iterable[Command]) -> bool:
    """Whether what is started may look for its settings elsewhere."""
    listed = list(commands)
    emptied = any(one.name == "env" and _list_words(one) & _EMPTYING for one in listed)
    return emptied or any(not AGENT_VARIABLES.isdisjoint(one.assigns) for one in listed)


def _list_words(command: Command) -> frozenset[str]:
    return command.flags | {word.value for word in command.words if word.value}


def _switches_off(agent: AgentProgram, command: Command) -> bool:
    flags = command.flags
    words: Sequence[str | None] = [word.value for word in command.arguments]
    first = set(words[:1])
    if first <= _BESIDE and first and list(words[1:2]) not in _READING:
        return True  # a gateway may be before the servers, and a plugin stands above the guard
    if not flags.isdisjoint(agent.off) or not first.isdisjoint(_EDITORS):
        return True
    options = ("--permission-mode", "--approval-mode")
    modes = [word for long in options for word in find_values(command.words, "--", long)]
    if any(word.value in _PERMISSION_MODES for word in modes):
        return True
    about_hooks = any("hook" in (word.value or "hook") for word in command.words)
    return agent.guard == "codex" and about_hooks and not flags.isdisjoint(_CONFIG)


def _is_about(agent: AgentProgram, command: Command) -> bool:
    """Whether it is the agent, where its program is more than that: `gh copilot`, not `gh pr`."""
    if not agent.starts:
        return True
    if not command.words:
        return agent.starts_alone
    verb = next((word.value for word in command.arguments), None)
    return verb in agent.starts or not command.flags.isdisjoint(agent.starts)


def _runs_agent(command: Command) -> bool:
    """Whether it does more than say something about itself."""
    first = next((word.value for word in command.words), None)
    verb = next((word.value for word in command.arguments), None)
    return first not in _INFORMING and verb not in _INFORMING_WORDS
