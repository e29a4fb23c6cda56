"""amplifier completion: the shell knows our commands."""

from __future__ import annotations

import pytest

from amplifier_hooks.cli.commands.completion import INSTALLATION
from tests.hooks.cli.program import invoke, run_amplifier


@pytest.mark.parametrize("shell", INSTALLATION)
def test_there_is_a_script_for_each_shell(shell: str) -> None:
    """And its help says where it goes."""
    assert "_AMPLIFIER_COMPLETE" in invoke("completion", shell).stdout
    assert INSTALLATION[shell] in invoke("completion", "--help").stdout


def test_the_shell_is_given_our_commands() -> None:
    """Those that begin as typed."""
    done = run_amplifier(
        _AMPLIFIER_COMPLETE="bash_complete", COMP_WORDS="amplifier do", COMP_CWORD="1"
    )
    assert done.stdout == "plain,doctor\n"


def test_a_shell_that_nobody_knows_is_wrong_usage() -> None:
    """With those that there are."""
    done = invoke("completion", "tcsh")
    assert done.code == 2
    assert all(shell in done.stderr for shell in INSTALLATION)
