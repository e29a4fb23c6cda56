"""What a person types to run the program from where they stand."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

from amplifier_hooks.cli.program_name import name_program, quote
from amplifier_hooks.cli.version import find_version


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two folders on the path, and facts that say something else."""
    found = (tmp_path / "first", tmp_path / "second")
    for place in found:
        place.mkdir()
    monkeypatch.setattr(sys, "path", ["/nowhere", *map(str, found)])
    monkeypatch.setattr(importlib.metadata, "version", lambda name: f"facts of {name}")
    return found


FACTS = "facts of amplifier-hooks"


@pytest.mark.parametrize(
    ("first", "second", "version"),
    [
        # Packages of a similar name do not matter.
        (["amplifier_hooks_extra-9.0.dist-info"], ["amplifier_hooks-2.0.dist-info"], "2.0"),
        # The first on the path counts, as it does for imports.
        (["amplifier_hooks-3.1rc1.dist-info"], ["amplifier_hooks-2.0.dist-info"], "3.1rc1"),
        # Two installations in one place, one of another kind, or none: the facts decide.
        ([], ["amplifier_hooks-1.0.dist-info", "amplifier_hooks-2.0.dist-info"], FACTS),
        ([], ["amplifier_hooks-1.0.egg-info"], FACTS),
        ([], [], FACTS),
    ],
)
def test_the_folder_of_the_installation_says_it(
    places: tuple[Path, Path], first: list[str], second: list[str], version: str
) -> None:
    """Where it leaves no doubt."""
    for place, names in zip(places, (first, second), strict=True):
        for name in names:
            (place / name).mkdir()
    assert find_version() == version


def test_it_is_that_of_what_is_installed() -> None:
    """The same that others read."""
    assert find_version() == importlib.metadata.version("amplifier-hooks")


def test_the_current_folder_may_be_on_the_path(
    places: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an empty text."""
    (places[1] / "amplifier_hooks-2.0.dist-info").mkdir()
    monkeypatch.chdir(places[1])
    monkeypatch.setattr(sys, "path", [""])
    assert find_version() == "2.0"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in an environment below the current folder, started by its path."""
    program = tmp_path / ".venv" / "bin" / "amplifier"
    program.parent.mkdir(parents=True)
    program.touch(mode=0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin")
    monkeypatch.setattr(sys, "argv", [str(program)])
    return program


def test_it_is_the_bare_name_where_the_shell_finds_this_one(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the path where the shell finds another, or none."""
    assert name_program() == ".venv/bin/amplifier"
    other = installed.parents[2] / "other" / "amplifier"
    other.parent.mkdir()
    other.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(other.parent))
    assert name_program() == ".venv/bin/amplifier"
    monkeypatch.setenv("PATH", f"{installed.parent}:{other.parent}")
    assert name_program() == "amplifier"


def test_from_elsewhere_it_is_the_whole_path(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for somebody who will change the folder; one with a space can be pasted."""
    assert name_program(absolute=True) == str(installed)
    (installed.parents[2] / "sub").mkdir()
    monkeypatch.chdir(installed.parents[2] / "sub")
    assert name_program() == str(installed)
    assert quote("my folder/x") == "'my folder/x'"


def test_run_as_a_module_it_is_the_program_beside_python_or_python_itself(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was typed is not a program that could be pasted."""
    monkeypatch.setattr(sys, "argv", ["main.py"])
    monkeypatch.setattr(sys, "executable", str(installed.with_name("python")))
    assert name_program() == ".venv/bin/amplifier"
    monkeypatch.setattr(sys, "executable", "/no where/python")
    assert name_program() == "'/no where/python' -P -m amplifier_hooks.cli.main"


def test_started_by_its_second_name_it_keeps_it(
    installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """People use it because another program is called `amplifier`."""
    second = installed.with_name("amplifier-hooks")
    second.touch(mode=0o755)
    monkeypatch.setattr(sys, "argv", [str(second)])
    assert name_program() == ".venv/bin/amplifier-hooks"
    monkeypatch.setenv("PATH", str(installed.parent))
    assert name_program() == "amplifier-hooks"
