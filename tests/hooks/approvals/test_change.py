"""The change that a call would make to a file, before it is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals import change
from amplifier_hooks.approvals.change import Change, foresee_change, write_preview


def test_a_write_replaces_the_whole_file(tmp_path: Path) -> None:
    """What is there now is the text before."""
    (tmp_path / "a.txt").write_text("old\n")
    written = foresee_change("Write", {"file_path": "a.txt", "content": "new\n"}, tmp_path)
    assert written == Change("a.txt", "old\n", "new\n")


def test_edits_are_applied_one_after_the_other(tmp_path: Path) -> None:
    """Each edit sees what the one before it left; only `replace_all` replaces more than once."""
    (tmp_path / "a.txt").write_text("x x y\n")
    edits = [
        {"old_string": "x", "new_string": "y"},
        {"old_string": "y", "new_string": "z", "replace_all": True},
    ]
    made = foresee_change("MultiEdit", {"file_path": "a.txt", "edits": edits}, tmp_path)
    assert made is not None
    assert made.after == "z x z\n"


@pytest.mark.parametrize(
    ("tool", "tool_input"),
    [
        ("Write", {"file_path": "a.txt", "content": 7}),
        ("Write", {"content": "x"}),
        ("MultiEdit", {"file_path": "a.txt", "edits": "none"}),
        ("MultiEdit", {"file_path": "a.txt", "edits": ["none"]}),
        ("Edit", {"file_path": "missing", "old_string": "a", "new_string": "b"}),
        ("Edit", {"file_path": "a.txt", "old_string": "absent", "new_string": "b"}),
    ],
)
def test_a_call_that_would_not_apply_is_no_change(
    tool: str, tool_input: dict[str, Any], tmp_path: Path
) -> None:
    """No guess is made."""
    (tmp_path / "a.txt").write_text("hello\n")
    assert foresee_change(tool, tool_input, tmp_path) is None


def test_a_symlink_says_where_it_leads(tmp_path: Path) -> None:
    """The file that would be written is the one that is named."""
    (tmp_path / "real.txt").write_text("x\n")
    (tmp_path / "link.txt").symlink_to("real.txt")
    made = foresee_change("Write", {"file_path": "link.txt", "content": "y\n"}, tmp_path)
    assert made is not None
    assert made.notes == (f"This path leads to {tmp_path / 'real.txt'}",)


@pytest.mark.parametrize("kind", ["pipe", "folder", "bytes", "large", "loop"])
def test_only_a_text_file_of_some_size_is_compared(kind: str, tmp_path: Path) -> None:
    """Nothing waits on a pipe, and nothing is compared that is no text."""
    path = tmp_path / "odd"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "loop":
        path.symlink_to(path)
    else:
        path.write_bytes(b"\xff\xfe" if kind == "bytes" else b"x" * (change.DIFF_BYTES + 1))
    made = foresee_change("Write", {"file_path": "odd", "content": "y"}, tmp_path)
    assert made is not None
    assert made.before is None
    assert made.notes


def test_people_elsewhere_get_the_difference_as_text(tmp_path: Path) -> None:
    """As `diff -u` writes it, made where the file is."""
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    text, notes = write_preview("Write", {"file_path": "a.txt", "content": "one\n2"}, tmp_path)
    assert text == (
        "--- a.txt\n+++ a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n\\ No newline at end of file\n"
    )
    assert notes == ()


def test_a_new_file_is_all_added_and_one_that_stays_says_so(tmp_path: Path) -> None:
    """A preview without a difference would look like a mistake."""
    text, notes = write_preview("Write", {"file_path": "n", "content": "x\n"}, tmp_path)
    assert text.endswith("+x\n")
    assert notes == (change.NEW,)
    (tmp_path / "n").write_text("x\n")
    assert write_preview("Write", {"file_path": "n", "content": "x\n"}, tmp_path)[1] == (
        change.SAME,
    )


def test_what_is_no_edit_or_would_not_apply_has_no_preview(tmp_path: Path) -> None:
    """Its input is shown."""
    assert write_preview("Bash", {"command": "ls"}, tmp_path) == ("", ())
    assert write_preview("Write", {"file_path": "x", "content": 3}, tmp_path) == ("", ())


def test_a_preview_that_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    """It would not fit through; the input is complete."""
    long = {"file_path": "a.txt", "content": "x" * (change.LONGEST_PREVIEW + 9)}
    text, notes = write_preview("Write", long, tmp_path)
    assert len(text) == change.LONGEST_PREVIEW
    assert notes == (change.NEW, change.CUT)
