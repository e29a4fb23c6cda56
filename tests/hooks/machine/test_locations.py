"""What belongs to this program and its environment, wherever those lie."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

import amplifier_core
from amplifier_hooks.machine.locations import (
    find_config_home,
    find_data_home,
    get_user_name,
    is_installed,
)


@pytest.mark.parametrize("module", [json, click, amplifier_core])
def test_the_program_and_what_it_imports_are_installed(module: object) -> None:
    """Python itself, a package of the environment, and a package of our own."""
    assert is_installed(Path(str(module.__file__)))  # type: ignore[attr-defined]


def test_a_project_is_not_installed(tmp_path: Path) -> None:
    """Nor what lies beside our own packages."""
    assert not is_installed(tmp_path / "hook.py")
    beside = Path(amplifier_core.__file__).parents[1]
    assert not is_installed(beside / "amplifier_module_planted.py")


@pytest.mark.parametrize(
    ("env", "config", "data"),
    [
        ({"HOME": "/h"}, "/h/.config", "/h/.local/share"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d"}, "/c", "/d"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "", "XDG_DATA_HOME": "/d"}, "/h/.config", "/d"),
        ({"HOME": "/h", "XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "/d"}, "/h/.config", "/d"),
    ],
)
def test_a_variable_names_the_folder_if_it_is_absolute(
    env: dict[str, str], config: str, data: str
) -> None:
    """An empty or relative path counts as none; then the folder is below the person's home."""
    assert find_config_home(env) == Path(config)
    assert find_data_home(env) == Path(data)


def test_without_an_environment_the_processes_own_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """What callers leave out is what the process was started with."""
    monkeypatch.setenv("XDG_DATA_HOME", "/mine")
    assert find_data_home() == Path("/mine")


@pytest.mark.parametrize("env", [{}, {"HOME": ""}])
def test_without_a_home_the_system_is_asked(
    env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A service may run without HOME."""
    monkeypatch.setenv("HOME", "/from-the-system")
    assert find_config_home(env) == Path("/from-the-system/.config")


def test_a_process_has_the_name_of_its_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or its number, where the machine knows no name for it."""
    monkeypatch.setattr("os.getuid", lambda: 0)
    assert get_user_name() == "root"
    monkeypatch.setattr("os.getuid", lambda: 4_000_000_123)
    assert get_user_name() == "uid 4000000123"
