"""The command line of bubblewrap; what it holds is tried in test_escapes."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from amplifier_foundation.machine.sandbox import bubblewrap
from amplifier_foundation.machine.sandbox.bubblewrap import build_arguments
from amplifier_foundation.machine.sandbox.wall import Wall

needs_bubblewrap = pytest.mark.skipif(
    shutil.which("bwrap") is None, reason="BUBBLEWRAP IS NOT INSTALLED"
)


@pytest.fixture
def wall(tmp_path: Path) -> Wall:
    for name in ("work/.git/hooks", "private", "data"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "data" / "key").write_text("secret")
    root = (tmp_path / "work").resolve()
    hooks = root / ".git" / "hooks"
    data = (tmp_path / "data").resolve()
    return Wall((root,), (data,), (hooks,), (tmp_path / "private").resolve())


def test_without_the_program_it_is_an_error(wall: Wall, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command never runs without the wall that was wanted."""
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    with pytest.raises(FileNotFoundError, match="not installed"):
        build_arguments(wall, "/", None)


def test_the_network_is_shared_only_where_it_is_allowed(
    wall: Wall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other namespace is new in any case."""
    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: "bwrap")
    assert "--share-net" in build_arguments(wall, "/", None)
    assert "--share-net" not in build_arguments(replace(wall, network="deny"), "/", None)


@needs_bubblewrap
@pytest.mark.parametrize(
    "attack",
    [
        "echo x > .git/hooks/pre-commit",
        "rm -r .git/hooks",
        "mv .git git; mkdir .git",
        "mv .git/hooks .git/old",
    ],
)
def test_a_sealed_place_cannot_be_changed_or_moved_away(wall: Wall, attack: str) -> None:
    """Its folders are mounts, which cannot be renamed; other files of the root can be written."""
    root = wall.writable[0]
    command = [*build_arguments(wall, str(root), None), "bash", "-c"]
    assert subprocess.run([*command, attack], capture_output=True).returncode != 0
    assert list((root / ".git" / "hooks").iterdir()) == []
    subprocess.run([*command, "echo x > .git/index && echo x > $PWD/new"], check=True)


@needs_bubblewrap
def test_a_hidden_place_looks_empty(wall: Wall) -> None:
    """And nothing can be put there."""
    command = [*build_arguments(wall, "/", None), "bash", "-c"]
    done = subprocess.run(
        [*command, f"ls {wall.hidden[0]}; echo x > {wall.hidden[0]}/key"],
        capture_output=True,
        text=True,
    )
    assert done.stdout == ""
    assert (wall.hidden[0] / "key").read_text() == "secret"
