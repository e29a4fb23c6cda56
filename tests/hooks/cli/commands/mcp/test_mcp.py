"""amplifier mcp: its commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.mcp import COMMANDS
from tests.hooks.cli.program import invoke


def test_help_lists_the_commands(home: Path) -> None:
    """Without importing any of them."""
    done = invoke("mcp", "--help")
    assert done.code == 0
    assert all(line in done.stdout for line in COMMANDS.values())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_there(home: Path, name: str) -> None:
    """And explains itself."""
    done = invoke("mcp", name, "--help")
    assert done.code == 0
    assert "Examples:" in done.stdout


def test_another_command_is_refused(home: Path) -> None:
    """Like anywhere else."""
    assert invoke("mcp", "nonsense").code == 2
