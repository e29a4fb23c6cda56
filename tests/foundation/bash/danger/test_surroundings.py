"""What changes how other programs run."""

from __future__ import annotations

import pytest

from amplifier_foundation.bash.danger.surroundings import (
    check_environment,
    check_privileges,
    check_unknown_program,
)
from tests.foundation.bash.danger.judging import ask


@pytest.mark.parametrize(
    ("source", "action"),
    [
        ("PATH=/x ls", "ask"),
        ("PATH=/x", "ask"),
        ("export LD_PRELOAD=x", "ask"),
        ("env GIT_SSH_COMMAND=x git fetch", "ask"),
        ("sudo BASH_ENV=x ls", "ask"),
        ("declare PS4=x", "ask"),
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
