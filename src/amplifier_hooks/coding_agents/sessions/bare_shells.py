"""A shell or an interpreter that waits for input: what is typed into it later, nobody judges.

Codex starts such a program with its shell tool and types into it with another tool, of which it
tells no hook.
"""

from __future__ import annotations

import re
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import TOOL_PRE
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.guards.bash import Command, list_all_commands
from amplifier_hooks.modules.guarding import read_command

NAME = "guest-bare-shells"
_FIRST = -900
_AGENTS = frozenset({"codex"})
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
    if dialect.name not in _AGENTS:
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

    remove = coordinator.hooks.register(TOOL_PRE, judge, _FIRST, NAME, on_error="deny")
    coordinator.register_cleanup(remove)


def find_bare_shell(command: str) -> str | None:
    """The program that would take what it does from its terminal, if the command has one."""
    found = (one for one in list_all_commands(command, NAME) if _waits_for_input(one))
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
