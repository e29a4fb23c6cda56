"""/undo: put back the files that the last turn overwrote."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from amplifier_hooks.cli.commands.chat.slash_commands import describe_undo, find_undo, put_back
from amplifier_hooks.guards.backup import save
from tests.hooks.cli.conftest import Project
from tests.hooks.cli.program import run_amplifier, run_at_terminal, wait_for_prompt
from tests.support.sessions import calls


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder; copies are kept in `copies`."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def edit(work: Path, name: str, text: str) -> datetime:
    """Copy a file as the hook does, then change it."""
    path = work / name
    save(work / "copies", path, tool="Write", session_id="s", max_file_bytes=10_000)
    path.write_text(text)
    return datetime.now(UTC)


def test_a_file_goes_back_to_what_it_was_before_its_first_edit(work: Path) -> None:
    """Also where its content had been copied before, so that no new copy was made."""
    (work / "a.txt").write_text("one\n")
    edit(work, "a.txt", "two\n")
    (work / "a.txt").write_text("one\n")
    first = edit(work, "a.txt", "three\n")
    edit(work, "a.txt", "four\n")
    undo = find_undo(work / "copies", {work / "a.txt": first, work / "new.txt": first})
    assert describe_undo(undo).split("\n") == [
        "a.txt",
        "  @@ -1 +1 @@",
        "  -four",
        "  +one",
        "new.txt has no copy (it was new, or could not be copied) and stays",
    ]
    assert put_back(undo) == ["a.txt"]
    assert (work / "a.txt").read_text() == "one\n"


def test_a_long_change_is_cut_and_other_files_are_measured(work: Path) -> None:
    """Nobody reads four hundred lines before saying yes."""
    (work / "long").write_text("old\n" * 300)
    (work / "raw").write_bytes(b"\xff\xfe")
    edits = {work / "long": edit(work, "long", ""), work / "raw": edit(work, "raw", "x")}
    text = describe_undo(find_undo(work / "copies", edits))
    assert "more lines" in text
    assert "back to the 2 bytes of " in text
    assert len(text.split("\n")) < 50


def test_the_last_turn_is_undone_after_a_yes(project: Project) -> None:
    """What would change is shown first; the agent is told with the next prompt."""
    Path("a.txt").write_text("old\n")
    project(
        calls("Write", file_path="a.txt", content="new\n"),
        {"text": "Written."},
        {"expect": "[I have undone your last changes to a.txt.]\n\nand now", "text": "I see."},
        hooks=["hooks-backup"],
    )
    with run_at_terminal("chat", columns=100, rows=40) as program:
        wait_for_prompt(program, 1)
        program.press("go\r")
        program.wait_for("Written.")
        wait_for_prompt(program, 2)
        program.press("/undo\r")
        program.wait_for("-new", "+old", "Put back 1 file? (y/n)")
        wait_for_prompt(program, 3)
        assert Path("a.txt").read_text() == "new\n"
        program.press("y\r")
        program.wait_for("Put back a.txt.")
        assert Path("a.txt").read_text() == "old\n"
        wait_for_prompt(program, 4)
        program.press("and now\r")
        program.wait_for("I see.")


def test_anything_but_a_yes_changes_nothing(project: Project) -> None:
    """Nor does a turn that edited no file."""
    Path("a.txt").write_text("old\n")
    project(
        calls("Write", file_path="a.txt", content="new\n"),
        {"text": "Written."},
        hooks=["hooks-backup"],
    )
    ended = run_amplifier("chat", stdin="/undo\ngo\n/undo\nmaybe\n")
    assert "The last turn edited no file." in ended.stderr
    assert "Nothing was changed." in ended.stderr
    assert Path("a.txt").read_text() == "new\n"
