"""What is on no list, for guards that let nothing else run.

A name counts as listed only if no directory, function, variable or file can make it stand for
something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.harmless import is_surely_harmless
from amplifier_hooks.guards.bash.inner.shells import SHELLS, read_invocation
from amplifier_hooks.guards.bash.script import Script
from amplifier_hooks.guards.bash.variables.names import list_set_names

_OWN_NAME = re.compile(r"[a-z_][a-z0-9_]*")
_READ_BY_OTHERS = re.compile(r"npm_config_.*|.*_proxy|auto_resume|histchars|_")


def find_unlisted(
    script: Script, permits: Callable[[Command], bool], permits_file: Callable[[Command], bool]
) -> Iterator[tuple[Command, str]]:
    """Each command that is on no list, with the reason.

    `permits` is asked about programs, `permits_file` about script files that a shell runs.
    """
    for command in script.commands:
        if command.program is None:
            yield command, "only running it would tell which program it is"
        elif not is_surely_harmless(command) and not permits(command):
            yield command, f"{command.name} is on no list"
        elif command.name in SHELLS and _runs_file(command) and not permits_file(command):
            yield command, f"the file that {command.name} runs is on no list"
        yield from ((command, f"the variable {n or '?'} is on no list") for n in _list_odd(command))


def _runs_file(command: Command) -> bool:
    invocation = read_invocation(command)
    return invocation.script_file is not None or invocation.reads_startup_files


def _list_odd(command: Command) -> Iterator[str | None]:
    """Variables that other programs, or the shell itself, may read."""
    for name in list_set_names(command):
        if name in {"REPLY", "MAPFILE", "OPTARG"}:
            continue
        if name is None or not _OWN_NAME.fullmatch(name) or _READ_BY_OTHERS.fullmatch(name):
            yield name
