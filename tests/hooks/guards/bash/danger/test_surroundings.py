"""What changes how other programs run."""

from __future__ import annotations

import pytest

from amplifier_hooks.guards.bash.danger.surroundings import (
    check_environment,
    check_privileges,
    check_shell_setup,
    check_unknown_program,
)
from tests.hooks.guards.bash.danger.judging import ask


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("PATH=/x ls", "ask"),
        ("PATH=/x", "ask"),
        ("export LD_PRELOAD=x", "ask"),
        ("env GIT_SSH_COMMAND=x git fetch", "ask"),
        ("sudo BASH_ENV=x ls", "ask"),
        ("declare PS4=x", "ask"),
        ('export "$x"', "ask"),
        ("X=1 make", None),
        ("echo PATH=x", None),
        ("export FOO=bar", None),
        ("env FOO=1 make", None),
    ],
)
def test_variables_that_make_programs_run_others(source: str, action: str | None) -> None:
    """Set before a command, by itself, or by a command that sets variables."""
    assert ask(check_environment, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [("sudo ls", "ask"), ("su -c ls", "ask"), ("/usr/bin/doas ls", "ask"), ("ls sudo", None)],
)
def test_rights_of_somebody_else(source: str, action: str | None) -> None:
    """Whatever is run with them."""
    assert ask(check_privileges, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [("$x", "ask"), ("~/bin/x", "ask"), ("./r*", "ask"), ("$(f) a", "ask"), ("./x", None)],
)
def test_a_program_nobody_can_name(source: str, action: str | None) -> None:
    """Variables, globs and substitutions in the first place."""
    assert ask(check_unknown_program, source) == action


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("alias ls=x", "ask"),
        ("hash -p /tmp/x ls", "ask"),
        ("hash -r", None),
        ("hash", None),
        ("shopt -s expand_aliases", "ask"),
        ("shopt", None),
        ("declare -n x=y", "ask"),
        ("local -i x=y", "ask"),
        ("declare -r x=y", None),
        ("unset -n x", None),
        ("export -n x", None),
        ("sort -n x", None),
        ("set -k", "ask"),
        ("set -H", "ask"),
        ("set -o posix", "ask"),
        ("set -o vi", "ask"),
        ("set -e", None),
        ("set -o pipefail", None),
        ("grep -H posix", None),
        ("$x", None),
    ],
)
def test_what_changes_how_the_shell_reads_its_commands(source: str, action: str | None) -> None:
    """Names for other programs, names with a meaning of their own, odd options; nothing else."""
    assert ask(check_shell_setup, source) == action
