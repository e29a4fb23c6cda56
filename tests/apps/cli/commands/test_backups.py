"""amplifier backups."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from amplifier_apps.cli.commands.backups import backups
from amplifier_foundation.hooks.backup import Backup
from amplifier_foundation.hooks.backup.store import save


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project that the command is run in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def back_up(path: Path, text: str = "old") -> Backup:
    """A file, and its copy."""
    path.write_text(text)
    kept = path.parent / ".amplifier" / "backups"
    made = save(kept, path, tool="Write", session_id="s-1", max_file_bytes=1000)
    assert made is not None
    return made


def run(*arguments: str, input: str | None = None) -> Result:
    return CliRunner().invoke(backups, list(arguments), input=input)


def test_the_command_lists_and_restores(work: Path) -> None:
    """A copy is found by the beginning of its id, and put back when the person says yes."""
    made = back_up(work / "a.txt")
    (work / "a.txt").write_text("new")
    listed = run("list")
    assert made.id in listed.output
    assert str(work / "a.txt") in listed.output
    assert json.loads(run("list", "--json").output)["path"] == str(work / "a.txt")
    refused = run("restore", made.id, input="n\n")
    assert refused.exit_code == 1
    assert "Nothing was changed." in refused.output
    assert (work / "a.txt").read_text() == "new"
    done = run("restore", made.id[:20], input="y\n")
    assert "Restored" in done.output
    assert (work / "a.txt").read_text() == "old"
    assert run("restore", made.id, "--yes", "--to", "b.txt").exit_code == 0
    assert (work / "b.txt").read_text() == "old"


def test_the_list_can_be_narrowed(work: Path) -> None:
    """By a part of the file's name, and by number."""
    for name in ("a.txt", "b.txt", "c.md"):
        back_up(work / name, name)
    assert len(run("list", "--file", ".txt").output.splitlines()) == 2
    assert "2 more" in run("list", "--limit", "1").output


def test_an_empty_list_is_a_sentence(work: Path) -> None:
    assert "No backups in .amplifier/backups." in run("list").output


def test_hostile_names_are_shown_harmless(work: Path) -> None:
    """Escape sequences in a path do not reach the terminal."""
    back_up(work / "a\x1b[2Jb")
    assert "\x1b" not in run("list").output
