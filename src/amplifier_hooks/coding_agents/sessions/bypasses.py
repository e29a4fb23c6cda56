"""Ways in which an agent runs tools past its hooks: modes without any, and shells that wait."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import PROMPT_SUBMIT, TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.known import KNOWN
from amplifier_hooks.coding_agents.modes import can_be_unguarded, find_unguarded
from amplifier_hooks.external.conversation import current_event
from amplifier_hooks.guards.bash import Command, list_all_commands
from amplifier_hooks.modules.registration import read_command

NAME = "guest-modes"
_FIRST = -900
_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "busybox"})
_MOST_ANCESTORS = 16


def refuse_prompts(coordinator: SessionCoordinator, agent: str) -> None:
    """Guard the sessions of an agent that has a mode in which it runs tools unasked."""
    if not can_be_unguarded(agent):
        return

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        under_way = current_event.get()
        mode = None if under_way is None else find_unguarded(agent, under_way.host)
        if mode is None:
            return HookResult()
        reason = (
            f"amplifier: this was started as {mode.start}, where {agent} runs tools without asking "
            "any hook, so nothing could be judged and no prompt is accepted. Start it in a "
            f"terminal or with -p, or use another agent here; 'amplifier guard {agent} --remove' "
            "takes the guard away"
        )
        # An editor shows nothing of a denied prompt, but keeps what the agent says as its log.
        return HookResult(
            action="deny", reason=reason, user_message=reason, user_message_level="error"
        )

    remove = coordinator.hooks.register(PROMPT_SUBMIT, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def read_host_arguments(client: int, processes: Path = Path("/proc")) -> tuple[str, ...]:
    """The command line of the agent that started a client; empty if the system does not show it.

    Agents run the lines in their settings by a shell, and some start themselves once more with the
    same arguments: the nearest process that is no shell is the agent.
    """
    for process in _list_ancestors(client, processes):
        words = _read_words(process, processes)
        if words and PurePath(words[0].removeprefix("-")).name not in _SHELLS:
            return words
    return ()


def _list_ancestors(process: int, processes: Path) -> Iterator[int]:
    for _ in range(_MOST_ANCESTORS):
        parent = _read_parent(process, processes)
        if parent <= 1:
            return
        yield parent
        process = parent


def _read_parent(process: int, processes: Path) -> int:
    try:
        facts = (processes / str(process) / "stat").read_bytes()
        # The name of the program stands in parentheses, and may hold anything.
        return int(facts.rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _read_words(process: int, processes: Path) -> tuple[str, ...]:
    try:
        line = (processes / str(process) / "cmdline").read_bytes()
    except OSError:
        return ()
    words = line.decode("utf-8", "replace").rstrip("\0").split("\0")
    return tuple(words) if any(words) else ()


SHELLS_NAME = "guest-bare-shells"
_INTERPRETERS = frozenset(
    {"sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "python", "pypy", "node", "deno", "bun"}
    | {"ruby", "irb", "perl", "php", "lua", "ghci", "erl", "iex", "scala", "julia", "r", "tclsh"}
    | {"expect", "bc", "su"}
)
_CLIENTS = frozenset(
    {"psql", "mysql", "mariadb", "sqlite", "redis-cli", "mongosh", "gdb", "ssh", "telnet", "nc"}
    | {"ncat", "socat", "ftp", "sftp", "screen", "tmux", "script"}
)
_GIVEN = frozenset(
    {"-c", "-e", "-f", "-m", "-p", "-r", "-N", "-V", "-h", "--eval", "--command", "--execute"}
    | {"--version", "--help"}
)
_VERSION = re.compile(r"[\d.]+$")


def deny_bare_shells(coordinator: SessionCoordinator, dialect: Dialect) -> None:
    """Guard the sessions of an agent that has a way to type past its hooks."""
    known = KNOWN.get(dialect.name)
    if known is None or not known.takes_typing:
        return

    async def judge(event: str, data: dict[str, Any]) -> HookResult:
        command = read_command((data.get("tool_input") or {}).get("command"))
        if data.get("tool_name") != "Bash" or not command:
            return HookResult()
        found = find_bare_shell(command)
        if found is None:
            return HookResult()
        reason = (
            f"{found!r} would wait for input, and {dialect.name} lets nobody judge what is typed "
            "into it; give the program what it is to do as an argument or a file"
        )
        return HookResult(action="deny", reason=reason)

    remove = coordinator.hooks.register(TOOL_PRE, judge, _FIRST, SHELLS_NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def find_bare_shell(command: str) -> str | None:
    """The program that would take what it does from its terminal, if the command has one."""
    found = (one for one in list_all_commands(command, SHELLS_NAME) if _waits_for_input(one))
    return next((one.text or str(one.program) for one in found), None)


def _waits_for_input(command: Command) -> bool:
    name = _VERSION.sub("", command.name or "")
    if name not in _INTERPRETERS | _CLIENTS or command.stdin is not None or command.piped_from:
        return False
    if any(redirect.operator.startswith("<") for redirect in command.redirects):
        return False
    if "-i" in command.flags:
        return True
    most = 0 if name in _INTERPRETERS else 1
    return len(command.operands) <= most and _GIVEN.isdisjoint(command.flags)
