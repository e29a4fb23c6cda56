"""Claude Code over HTTP: only with a version that blocks when the server fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.guard.installing import TooOld, check_version
from tests.hooks.cli.program import invoke
from tests.support.agent_homes import list_left


def install_claude(home: Path, prints: str) -> None:
    """A program that only knows its version."""
    program = home / "bin" / "claude"
    program.write_text(f"#!/bin/sh\necho '{prints}'\n")
    program.chmod(0o755)


@pytest.mark.parametrize("version", ["2.1.325", "2.2.0", "10.0.0"])
def test_a_version_that_blocks_is_taken(home: Path, version: str) -> None:
    """Without a word."""
    install_claude(home, f"{version} (Claude Code)")
    assert check_version() == ""


def test_an_old_version_is_refused_before_anything_is_written(home: Path) -> None:
    """With both versions, and what would do."""
    install_claude(home, "2.1.197 (Claude Code)")
    with pytest.raises(TooOld, match=r"2\.1\.197 .* update it to 2\.1\.325"):
        check_version()
    done = invoke("guard", "claude", "--http")
    assert done.code == 1
    assert "leave out --http" in done.stderr
    assert list_left(home) == []


@pytest.mark.parametrize("prints", [None, "claude"])
def test_where_the_version_is_unknown_the_person_is_told(home: Path, prints: str | None) -> None:
    """Claude Code may be installed elsewhere."""
    if prints is not None:
        install_claude(home, prints)
    assert "2.1.325 or later" in check_version()
    assert "2.1.325 or later" in invoke("guard", "claude", "--http").stdout
