"""Which programs are those of this installation."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from amplifier_hooks.mcp.gateway.clients.program import (
    find_python,
    is_our_python,
    is_our_script,
)

FOLDER = Path(sys.executable).parent
SCRIPT = FOLDER / "amplifier"


def test_our_programs_are_known_by_their_whole_path() -> None:
    """Under any name that an interpreter has there."""
    assert is_our_script(str(SCRIPT))
    assert is_our_script(str(FOLDER / "amplifier-hooks"))
    assert is_our_python(str(find_python()))
    assert is_our_python(sys.executable)
    assert not is_our_python(str(SCRIPT))
    assert not is_our_script(sys.executable)


def test_a_link_to_our_script_is_our_script(tmp_path: Path) -> None:
    """So installers put it on the PATH. A link to the interpreter would find other packages."""
    (tmp_path / "amp").symlink_to(SCRIPT)
    (tmp_path / "python3").symlink_to(sys.executable)
    (tmp_path / "environment").symlink_to(FOLDER)
    assert is_our_script(str(tmp_path / "amp"))
    assert not is_our_python(str(tmp_path / "python3"))
    assert is_our_python(str(tmp_path / "environment" / Path(sys.executable).name))


def test_another_program_of_the_same_name_is_not_ours(tmp_path: Path) -> None:
    """Not even a copy: it may be changed at any time."""
    shutil.copy(SCRIPT, tmp_path / "amplifier")
    for command in (tmp_path / "amplifier", "/bin/sh", "/nowhere/amplifier", FOLDER):
        assert not is_our_script(str(command))
        assert not is_our_python(str(command))


def test_a_path_that_means_something_else_elsewhere_is_not_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client does not work where we look."""
    monkeypatch.chdir(FOLDER)
    (tmp_path / "link").symlink_to("/usr/lib")
    for command in ("./amplifier", "../bin/amplifier", f"{FOLDER}/../bin/amplifier", "~/amplifier"):
        assert not is_our_script(command)
    for command in ("", " ", "/", "amplifier.exe", r"C:\bin\amplifier", f"{SCRIPT} "):
        assert not is_our_script(command)
        assert not is_our_python(command)


def test_a_name_is_what_the_path_finds_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder on it that is another one in each project spoils that."""
    monkeypatch.setenv("PATH", f"{tmp_path}:{FOLDER}")
    assert is_our_script("amplifier")
    assert not is_our_script("Amplifier")
    for first in (".", "", "node_modules/.bin"):
        monkeypatch.setenv("PATH", f"{first}:{FOLDER}")
        assert not is_our_script("amplifier")
    monkeypatch.setenv("PATH", f"{tmp_path}:{FOLDER}")
    (tmp_path / "amplifier").touch(0o755)
    assert not is_our_script("amplifier")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert not is_our_script("amplifier")
