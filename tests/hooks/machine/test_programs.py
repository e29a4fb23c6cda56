"""Where the programs of a project are, and how they are called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from amplifier_hooks.machine.programs import (
    Command,
    build_environment,
    build_search_path,
    fill_command,
    find_program,
    get_program_name,
    list_binding_words,
)


def write_program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_a_projects_own_tools_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They win over those of the machine, which win over those beside us."""
    machine = write_program(tmp_path / "bin" / "lint")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    assert find_program("lint", str(tmp_path)) == machine
    own = write_program(tmp_path / "node_modules" / ".bin" / "lint")
    assert find_program("lint", str(tmp_path)) == own
    assert find_program("no-such-program-anywhere", str(tmp_path)) is None


def test_the_search_path_ends_beside_our_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """A linter that is installed with us is found; without a PATH the usual one counts."""
    monkeypatch.delenv("PATH")
    *_, last = build_search_path("/project").split(os.pathsep)
    assert last == str(Path(sys.executable).parent)
    assert os.defpath in build_search_path("/project")


def test_the_environment_is_ours_without_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    """Colours are noise for a model."""
    monkeypatch.setenv("SOMETHING", "else")
    env = build_environment("/project")
    assert (env["SOMETHING"], env["NO_COLOR"], env["PY_COLORS"]) == ("else", "1", "0")
    assert env["PATH"] == build_search_path("/project")


def test_a_file_name_is_never_shell_text() -> None:
    """In a line for bash it arrives quoted; in a list it is one argument."""
    name = "a b; rm -rf $HOME {file}"
    assert fill_command("lint {file} {other}", file=name) == f"lint '{name}' {{other}}"
    assert fill_command(("lint", "--in={file}"), file=name) == ["lint", f"--in={name}"]


def test_a_value_is_not_filled_again() -> None:
    """Otherwise the second would break the quotes of the first."""
    filled = fill_command("lint {file} {rule}", file="{rule}", rule="a b")
    assert filled == "lint '{rule}' 'a b'"


@pytest.mark.parametrize(
    ("command", "name"),
    [("pytest -q", "pytest"), (("/usr/bin/ruff", "check"), "ruff"), ("", "?"), ((), "?")],
)
def test_a_program_has_a_short_name(command: str | tuple[str, ...], name: str) -> None:
    """Messages name the program without its folder and arguments."""
    assert get_program_name(command) == name


@pytest.mark.parametrize("command", ["pytest -q", " pytest", ["ruff", "check"], ["ruff"]])
def test_a_command_is_a_line_or_a_list(command: object) -> None:
    """Both are accepted as an option of a module."""
    assert TypeAdapter(Command).validate_python(command)


@pytest.mark.parametrize("command", ["", "  ", [], [" "], ["", "x"], 7])
def test_an_empty_command_is_refused(command: object) -> None:
    """The mistake is reported when the configuration is read."""
    with pytest.raises(ValidationError):
        TypeAdapter(Command).validate_python(command)


def test_a_command_is_bound_to_us_only_where_that_works(tmp_path: Path) -> None:
    """A program of the right name may not know the option, and then no server would start."""
    assert list_binding_words(str(tmp_path)) == ()
    other = tmp_path / "setpriv"
    other.write_text("#!/bin/sh\nexit 1\n")
    other.chmod(0o755)
    assert list_binding_words(str(tmp_path)) == ()
    other = tmp_path / "bin" / "setpriv"
    other.parent.mkdir()
    other.write_text("#!/bin/sh\nexit 0\n")
    other.chmod(0o755)
    assert list_binding_words(str(other.parent)) == (str(other), "--pdeathsig", "KILL", "--")
