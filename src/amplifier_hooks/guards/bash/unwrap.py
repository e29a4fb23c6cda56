"""Commands that run other commands (`sudo`, `xargs`, `find -exec`, `bash -c` …), laid open."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, reduce

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.inner.find import unwrap_find
from amplifier_hooks.guards.bash.inner.prefixes import (
    PREFIXES,
    unwrap_env,
    unwrap_prefix,
    unwrap_xargs,
)
from amplifier_hooks.guards.bash.inner.runners import (
    RUNNERS,
    unwrap_alias,
    unwrap_debugger,
    unwrap_eval,
    unwrap_git_program,
    unwrap_parallel,
    unwrap_remote,
    unwrap_runner,
    unwrap_trap,
)
from amplifier_hooks.guards.bash.inner.shells import SHELLS, unwrap_shell
from amplifier_hooks.guards.bash.inner.text_runners import (
    unwrap_callback,
    unwrap_entr,
    unwrap_flock,
    unwrap_script,
    unwrap_su,
    unwrap_watch,
)
from amplifier_hooks.guards.bash.script import Script, join_scripts, parse_script
from amplifier_hooks.guards.bash.variables.arithmetic import Evaluation
from amplifier_hooks.guards.bash.variables.evaluating import evaluate_words

MAX_DEPTH = 8
MAX_COMMANDS = 2_000

_SHORT = 4_000
_KEPT = 64
_UNWRAPPERS: dict[str, Callable[[Command, str], Script]] = {
    **dict.fromkeys(SHELLS, unwrap_shell),
    **dict.fromkeys(PREFIXES, unwrap_prefix),
    **dict.fromkeys(RUNNERS, unwrap_runner),
    "env": unwrap_env,
    "genv": unwrap_env,
    "xargs": unwrap_xargs,
    "entr": unwrap_entr,
    "gdb": unwrap_debugger,
    "flock": unwrap_flock,
    "watch": unwrap_watch,
    "eval": unwrap_eval,
    "trap": unwrap_trap,
    "su": unwrap_su,
    "runuser": unwrap_su,
    "script": unwrap_script,
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
    return _unwrap(source) if len(source) <= _SHORT else _lay_open(source, owner)


def list_all_commands(source: str, owner: str = "shell parsing") -> tuple[Command, ...]:
    """The same commands; ValueError says why where some of them may be missing."""
    script = unwrap_command(source, owner)
    if not script.whole:
        raise ValueError(script.unclear[0])
    return script.commands


@lru_cache(maxsize=_KEPT)
def _unwrap(source: str) -> Script:
    """The same for a command of usual length, which several guards look at one after the other."""
    return _lay_open(source, "shell parsing")


def _find_unwrapper(name: str) -> Callable[[Command, str], Script] | None:
    return unwrap_git_program if name.startswith("git-") else _UNWRAPPERS.get(name)


def _lay_open(source: str, owner: str) -> Script:
    script = parse_script(source, owner)
    commands: list[Command] = []
    parts = [script]
    # A stack with its own depth: `sudo sudo sudo …` must not recurse as deep as it is long.
    pending = [(command, 0) for command in reversed(script.commands)]
    while pending:
        command, level = pending.pop()
        commands.append(command)
        if level >= MAX_DEPTH or len(commands) > MAX_COMMANDS:
            why = "commands inside commands go too deep to be judged"
            parts.append(Script((), (why,), whole=False))
            break
        unwrapper = _find_unwrapper(command.name or "")
        if unwrapper is not None:
            inner = unwrapper(command, owner)
            parts.append(inner)
            pending += [(found, level + 1) for found in reversed(inner.commands)]
    whole = join_scripts(parts)
    evaluation = reduce(Evaluation.join, map(evaluate_words, commands), whole.evaluation)
    unclear = dict.fromkeys([*whole.unclear, *evaluation.list_doubts()])
    return Script(tuple(commands), tuple(unclear), whole.functions, evaluation, whole.whole)
