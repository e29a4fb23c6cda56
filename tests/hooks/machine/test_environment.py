"""What belongs to this program and its environment, wherever those lie."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

import amplifier_core
from amplifier_hooks.machine.environment import is_installed


@pytest.mark.parametrize("module", [json, click, amplifier_core])
def test_the_program_and_what_it_imports_are_installed(module: object) -> None:
    """Python itself, a package of the environment, and a package of our own."""
    assert is_installed(Path(str(module.__file__)))  # type: ignore[attr-defined]


def test_a_project_is_not_installed(tmp_path: Path) -> None:
    """Nor what lies beside our own packages."""
    assert not is_installed(tmp_path / "hook.py")
    beside = Path(amplifier_core.__file__).parents[1]
    assert not is_installed(beside / "amplifier_module_planted.py")
