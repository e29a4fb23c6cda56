"""All checks by the name of their rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from amplifier_hooks.guards.bash.command import Command
from amplifier_hooks.guards.bash.danger.code import (
    check_downloaded_code,
    check_fork_bomb,
    check_hidden_substitution,
    check_opaque_code,
    check_sourced_file,
    check_written_then_run,
)
from amplifier_hooks.guards.bash.danger.deletion import check_deletion, check_rights
from amplifier_hooks.guards.bash.danger.discarding import check_discarding
from amplifier_hooks.guards.bash.danger.finding import (
    Finding,
    Objection,
    Situation,
    list_situations,
)
from amplifier_hooks.guards.bash.danger.lists import LISTED, ListedCommand
from amplifier_hooks.guards.bash.danger.surroundings import (
    check_environment,
    check_privileges,
    check_shell_setup,
    check_unknown_program,
)
from amplifier_hooks.guards.bash.danger.writing import (
    check_device_write,
    check_protected_write,
    check_unknown_write,
)
from amplifier_hooks.guards.bash.place import Place
from amplifier_hooks.guards.bash.script import Script

_CHECKS: Mapping[str, Callable[[Situation], Objection | None]] = {
    "recursive-delete": check_deletion,
    "recursive-rights": check_rights,
    "device-write": check_device_write,
    "downloaded-code": check_downloaded_code,
    "fork-bomb": check_fork_bomb,
    "protected-write": check_protected_write,
    "unknown-write": check_unknown_write,
    "opaque-code": check_opaque_code,
    "hidden-substitution": check_hidden_substitution,
    "written-then-run": check_written_then_run,
    "sourced-file": check_sourced_file,
    "environment": check_environment,
    "shell-setup": check_shell_setup,
    "privileges": check_privileges,
    "unknown-program": check_unknown_program,
    "git-discard": check_discarding,
}

RULES: frozenset[str] = frozenset({*_CHECKS, *(entry.rule for entry in LISTED)})
"""The names of all built-in rules."""


def find_dangers(
    script: Script, place: Place, listed: tuple[ListedCommand, ...], off: frozenset[str]
) -> Iterator[tuple[Command, Finding]]:
    """All that speaks against the commands of a script, in their order."""
    for situation in list_situations(script, place):
        command = situation.command
        for rule, check in _CHECKS.items():
            if rule not in off and (found := check(situation)):
                yield command, Finding(found[0], rule, found[1], command.text)
        for entry in listed:
            if entry.rule not in off and entry.pattern.matches(command):
                yield command, Finding(entry.action, entry.rule, entry.reason, command.text)
