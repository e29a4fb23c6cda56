"""amplifier backups: the copies that were made, and the way back to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from amplifier_hooks.guards.backup import Backup, locate_store, save
from tests.hooks.cli.program import Outcome, invoke


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project that the command is run in."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path.resolve()


def back_up(path: Path, text: str = "old") -> Backup:
    """A file, and its copy."""
    path.write_text(text)
    made = save(
        locate_store(path.parent), path, tool="Write", session_id="s-1", max_file_bytes=1000
    )
    assert made is not None
    return made


def run(*arguments: str, answer: str | None = None) -> Outcome:
    return invoke("backups", *arguments, answer=answer)


@pytest.mark.usefixtures("person")
def test_the_command_lists_and_restores(work: Path) -> None:
    """A copy is found by the beginning of its id, and put back when the person says yes."""
    made = back_up(work / "a.txt")
    (work / "a.txt").write_text("new")
    listed = run("list")
    assert made.id in listed.output
    assert str(work / "a.txt") in listed.output
    assert json.loads(run("list", "--json").output)["path"] == str(work / "a.txt")
    refused = run("restore", made.id, answer="n\n")
    assert refused.code == 1
    assert "Nothing was changed." in refused.output
    assert (work / "a.txt").read_text() == "new"
    done = run("restore", made.id[:20], answer="y\n")
    assert "Restored" in done.output
    assert (work / "a.txt").read_text() == "old"
    assert run("restore", made.id, "--yes", "--to", "b.txt").code == 0
    assert (work / "b.txt").read_text() == "old"


def test_the_list_can_be_narrowed(work: Path) -> None:
    """By a part of the file's name, and by number."""
    for name in ("a.txt", "b.txt", "c.md"):
        back_up(work / name, name)
    assert len(run("list", "--file", ".txt").output.splitlines()) == 2
    assert "2 more" in run("list", "--limit", "1").output


def test_an_empty_list_is_a_sentence(work: Path) -> None:
    """With the folder that was looked into."""
    assert f"No backups in {locate_store(work)}.\n" in run("list").output


def test_copies_of_earlier_versions_are_pointed_at(work: Path) -> None:
    """They lay in the project, where `--dir` finds them; nothing there is used unasked."""
    older = work / ".amplifier" / "backups"
    (work / "a.txt").write_text("old")
    made = save(older, work / "a.txt", tool="Write", session_id="s", max_file_bytes=9)
    assert made is not None
    assert "There are older ones: --dir .amplifier/backups" in run("list").output
    assert made.id in run("list", "--dir", ".amplifier/backups").output
    assert run("restore", made.id, "--yes").code == 1


def test_hostile_names_are_shown_harmless(work: Path) -> None:
    """Escape sequences in a path do not reach the terminal."""
    back_up(work / "a\x1b[2Jb")
    assert "\x1b" not in run("list").output


def test_a_row_shows_id_time_size_tool_and_file(work: Path) -> None:
    """In columns, the size to the right."""
    made = back_up(work / "a.txt", "x" * 500)
    time = made.created.astimezone().strftime("%Y-%m-%d %H:%M:%S")
    assert run("list").stdout == f"{made.id}  {time}        500  Write      {work / 'a.txt'}\n"


def test_a_backup_that_is_not_there_is_one_line(work: Path) -> None:
    """By the id that was given."""
    done = run("restore", "nonsense", "--yes")
    assert done.code == 1
    assert done.stderr.startswith("Error: ")
    assert "nonsense" in done.stderr
