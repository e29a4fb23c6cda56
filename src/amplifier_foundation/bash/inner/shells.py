"""Shells inside a shell: `sh -c TEXT`, a script on standard input, or a script file."""

from __future__ import annotations

from amplifier_foundation.bash.command import Command
from amplifier_foundation.bash.inner.text import find_first_argument, parse_inner
from amplifier_foundation.bash.script import Script
from amplifier_foundation.bash.word import split_names

SHELLS = split_names("sh bash dash zsh ksh mksh ash fish rbash tcsh csh")
_STDIN = frozenset({"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"})


def unwrap_shell(command: Command, owner: str) -> Script:
    """The script that a shell runs; what only running it would tell is unclear."""
    if "-c" in command.flags:
        return parse_inner(command, find_first_argument(command), owner)
    if _runs_file(command):
        return _doubt_file(command)
    if command.stdin is not None and not _is_changed_on_the_way(command):
        return parse_inner(command, command.stdin, owner)
    if command.piped_from:
        sources = ", ".join(name or "?" for name in command.piped_from)
        return Script((), (f"{command.name} runs what a pipe brings it (from {sources})",))
    if any(redirect.operator == "<" for redirect in command.redirects):
        return Script((), (f"{command.name} runs a file, which is not read here",))
    return Script(())


def _runs_file(command: Command) -> bool:
    """Behind `-s` the arguments are those of the script; some names mean standard input."""
    if not command.arguments or "-s" in command.flags:
        return False
    return command.arguments[0].value not in _STDIN


def _is_changed_on_the_way(command: Command) -> bool:
    """Whether something else than `cat` stands between the here-document and the shell."""
    return any(name != "cat" for name in command.piped_from)


def _doubt_file(command: Command) -> Script:
    """A script file with a plain name is a program like any other; `<(…)` has no name."""
    first = command.arguments[0]
    if first.value is None:
        return Script((), (f"the script that {command.name} runs, {first.raw}, is not literal",))
    return Script(())
