"""Commands that run other commands (`sudo`, `xargs`, `find -exec`, `bash -c` …), laid open."""

from __future__ import annotations

from collections.abc import Callable

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.inner.find import unwrap_find
from amplifier_foundation.bash.inner.prefixes import (
    PREFIXES,
    unwrap_env,
    unwrap_flock,
    unwrap_prefix,
    unwrap_watch,
)
from amplifier_foundation.bash.inner.runners import (
    RUNNERS,
    unwrap_alias,
    unwrap_callback,
    unwrap_eval,
    unwrap_parallel,
    unwrap_remote,
    unwrap_runner,
    unwrap_su,
    unwrap_trap,
)
from amplifier_foundation.bash.inner.shells import SHELLS, unwrap_shell
from amplifier_foundation.bash.script import Script, parse_script

MAX_DEPTH = 8
MAX_COMMANDS = 2_000

_UNWRAPPERS: dict[str, Callable[[Command, str], Script]] = {
    **dict.fromkeys(SHELLS, unwrap_shell),
    **dict.fromkeys(PREFIXES, unwrap_prefix),
    **dict.fromkeys(RUNNERS, unwrap_runner),
    "env": unwrap_env,
    "flock": unwrap_flock,
    "watch": unwrap_watch,
    "eval": unwrap_eval,
    "trap": unwrap_trap,
    "su": unwrap_su,
    "runuser": unwrap_su,
    "script": unwrap_su,
    "mapfile": unwrap_callback,
    "readarray": unwrap_callback,
    "complete": unwrap_callback,
    "compgen": unwrap_callback,
    "ssh": unwrap_remote,
    "parallel": unwrap_parallel,
    "alias": unwrap_alias,
    "find": unwrap_find,
    "gfind": unwrap_find,
}


def unwrap_command(source: str, owner: str = "shell parsing") -> Script:
    """The script with every command inside a command laid open, outer ones first."""
    script = parse_script(source, owner)
    commands: list[Command] = []
    unclear = list(script.unclear)
    functions = set(script.functions)
    # A stack with its own depth: `sudo sudo sudo …` must not recurse as deep as it is long.
    pending = [(command, 0) for command in reversed(script.commands)]
    while pending:
        command, level = pending.pop()
        commands.append(command)
        if level >= MAX_DEPTH or len(commands) > MAX_COMMANDS:
            unclear.append("commands inside commands go too deep to be judged")
            break
        unwrapper = _UNWRAPPERS.get(command.name or "")
        if unwrapper is not None:
            inner = unwrapper(command, owner)
            unclear += inner.unclear
            functions |= inner.functions
            pending += [(found, level + 1) for found in reversed(inner.commands)]
    return Script(tuple(commands), tuple(dict.fromkeys(unclear)), frozenset(functions))
