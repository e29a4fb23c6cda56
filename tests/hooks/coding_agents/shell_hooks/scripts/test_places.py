"""Which files are somebody's to change."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.shell_hooks.scripts import (
    is_own,
    is_part_of_script,
    is_script,
    resolve,
)


@pytest.mark.parametrize(
    ("word", "path"),
    [
        ("x.sh", "/project/x.sh"),
        ("'a b'/x.sh", "/project/a b/x.sh"),
        ("../x.sh", "/x.sh"),
        ("~/x.sh", f"{Path.home()}/x.sh"),
        ("$HOME/x.sh", f"{Path.home()}/x.sh"),
        ('"${CLAUDE_PROJECT_DIR}"/x.sh', "/project/x.sh"),
        ("$PWD/x.sh", "/project/x.sh"),
        ("$OTHER/x.sh", None),
        ("*.sh", None),
        ("", None),
        ("x" * 2_000, None),
    ],
)
def test_a_word_names_a_file_if_that_can_be_said(word: str, path: str | None) -> None:
    """Of values that only the shell knows, nothing can."""
    assert resolve(word, Path("/project")) == (None if path is None else Path(path))


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/project/x.sh", True),
        ("/tmp/x.sh", True),
        ("/usr/bin/env", False),
        ("/project/.venv/bin/ruff", False),
        ("/project/node_modules/.bin/x", False),
        (os.__file__, False),
    ],
)
def test_programs_of_the_system_and_of_environments_are_not_own(path: str, own: bool) -> None:
    """What no copy of a single file would hold is run as it is."""
    assert is_own(Path(path)) is own


def test_a_script_is_known_by_its_name_its_mode_or_its_first_bytes(tmp_path: Path) -> None:
    """Settings count beside one; pipes, folders and what is not there never do."""
    for name, text in (("a.sh", ""), ("b", "#!/bin/sh\n"), ("c", ""), ("d", "x"), ("e.json", "")):
        (tmp_path / name).write_text(text)
    (tmp_path / "c").chmod(0o755)
    os.mkfifo(tmp_path / "f.sh")
    found = [name for name in "abcdf" if is_script(tmp_path / name)]
    assert found == ["b", "c"]
    assert is_script(tmp_path / "a.sh")
    assert not is_script(tmp_path / "f.sh")
    assert not is_script(tmp_path / "missing.sh")
    assert not is_script(tmp_path / "\0")
    assert not is_script(tmp_path / "e.json")
    assert is_part_of_script(tmp_path / "e.json")
    assert not is_part_of_script(tmp_path / "d")
    assert is_script(Path(sys.executable))
