"""What a call would do, before it is allowed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_apps.cli.approval.preview import Preview, exact, highlighted, preview
from amplifier_apps.cli.text.escape import unescape
from amplifier_apps.cli.text.fragments import plain


def body(view: Preview) -> str:
    return "\n".join(plain(line) for line in view.body)


def test_a_write_over_a_file_is_a_diff(tmp_path: Path) -> None:
    """Diff for Write against the existing file."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    view = preview("Write", {"file_path": "a.txt", "content": "one\n2\nthree\n"}, tmp_path)
    assert "- two\n+ 2" in body(view)
    assert plain(view.headline) == "Write  a.txt"


def test_a_new_file_is_shown_whole(tmp_path: Path) -> None:
    """Without a file to compare with, all of the content."""
    view = preview("Write", {"file_path": "new.txt", "content": "a\nb"}, tmp_path)
    assert body(view) == "+ a\n+ b"
    assert "no readable text file yet" in view.notes[0]


def test_several_edits_are_one_diff(tmp_path: Path) -> None:
    """Diff for MultiEdit: what the file would be after all of them."""
    (tmp_path / "a.txt").write_text("x = 1\ny = 2\nx = 1\n")
    edits = [
        {"old_string": "x = 1", "new_string": "x = 9", "replace_all": True},
        {"old_string": "y = 2", "new_string": "y = 3"},
    ]
    shown = body(preview("MultiEdit", {"file_path": "a.txt", "edits": edits}, tmp_path))
    assert shown.count("+ x = 9") == 2
    assert "+ y = 3" in shown


@pytest.mark.parametrize(
    "odd",
    [
        {"file_path": "a.txt", "old_string": "absent", "new_string": "x"},
        {"file_path": "a.txt", "old_string": "", "new_string": "x"},
        {"file_path": "a.txt"},
        {"file_path": 7, "old_string": "a", "new_string": "b"},
        {"file_path": "a\0b", "old_string": "a", "new_string": "b"},
        {"file_path": "missing", "old_string": "a", "new_string": "b"},
        {},
    ],
)
def test_an_edit_that_would_not_apply_shows_its_input(odd: dict[str, Any], tmp_path: Path) -> None:
    """No guess: the fields as they are."""
    (tmp_path / "a.txt").write_text("hello\n")
    shown = unescape(body(preview("Edit", odd, tmp_path)))
    assert all(str(value) in shown for value in odd.values())


def test_a_symlink_says_where_it_leads(tmp_path: Path) -> None:
    """T4, T6: what is written to is what is shown."""
    (tmp_path / "real.txt").write_text("x\n")
    (tmp_path / "link.txt").symlink_to("real.txt")
    view = preview("Write", {"file_path": "link.txt", "content": "y\n"}, tmp_path)
    assert any(str(tmp_path / "real.txt") in note for note in view.notes)


def test_a_pipe_in_place_of_the_file_does_not_hang(tmp_path: Path) -> None:
    """Only regular files are read."""
    os.mkfifo(tmp_path / "pipe")
    view = preview("Write", {"file_path": "pipe", "content": "y"}, tmp_path)
    assert body(view) == "+ y"


def test_a_missing_last_newline_is_a_visible_difference(tmp_path: Path) -> None:
    """Nothing that changes is left out."""
    (tmp_path / "a.txt").write_text("x\n")
    assert "no newline" in body(preview("Write", {"file_path": "a.txt", "content": "x"}, tmp_path))


def test_an_unchanged_file_is_said_to_be_so(tmp_path: Path) -> None:
    """An empty diff is explained."""
    (tmp_path / "a.txt").write_text("x\n")
    view = preview("Write", {"file_path": "a.txt", "content": "x\n"}, tmp_path)
    assert view.notes == ("The file would stay exactly as it is.",)


@given(st.text(), st.text())
def test_a_diff_holds_every_changed_line(before: str, after: str) -> None:
    """What a diff adds and removes turns one file into the other."""
    from amplifier_apps.cli.approval.preview import Change, _diff, _diff_lines

    rows = [plain(line) for line in _diff(Change("f", before, after)) or []]
    added = [unescape(row[2:]) for row in rows if row.startswith("+ ")]
    kept_or_added = [line.removesuffix("\n") for line in _diff_lines(after)]
    assert all(line in kept_or_added for line in added)
    assert bool(rows) == (before != after)


@given(st.text())
def test_highlighting_changes_no_character(command: str) -> None:
    """Colour is for the eye; the command is the command."""
    assert unescape("\n".join(plain(line) for line in highlighted(command))) == command


def test_programs_and_operators_stand_out() -> None:
    """Command highlighted."""
    (line,) = highlighted("git push && rm -rf x | sh")
    assert [text for style, text in line if style == "class:program"] == ["git", "rm", "sh"]
    assert [text for style, text in line if style == "class:operator"] == ["&&", "|"]


def test_any_input_can_be_shown_exactly() -> None:
    """Odd values do not break the view."""
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert "cannot be written" in plain(exact(loop)[0])
    assert plain(exact({"a": b"\x1b"})[1]) == '  "a": "b\'\\\\x1b\'"'
