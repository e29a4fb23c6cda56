"""The change that a call would make to a file, before it is made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_apps.cli.approval import change
from amplifier_apps.cli.approval.change import Change, foresee_change, show_diff
from amplifier_apps.cli.text.escape import unescape
from amplifier_apps.cli.text.fragments import join_text


def rows(made: Change) -> list[str]:
    return [join_text(line) for line in show_diff(made) or []]


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


def test_a_missing_last_newline_is_a_visible_difference() -> None:
    """Nothing that changes is left out."""
    assert rows(Change("f", "x\n", "x")) == [
        "@@ -1 +1 @@",
        "- x",
        "+ x",
        "  (no newline at the end)",
    ]


def test_lines_that_stay_are_left_out_of_a_diff() -> None:
    """Three lines around a change are enough to know the place."""
    before = "".join(f"{number}\n" for number in range(100))
    shown = rows(Change("f", before, before.replace("50\n", "fifty\n")))
    assert shown == [
        "@@ -48,7 +48,7 @@",
        *(f"  {number}" for number in (47, 48, 49)),
        "- 50",
        "+ fifty",
        *(f"  {number}" for number in (51, 52, 53)),
    ]


def test_what_would_take_too_long_has_no_diff() -> None:
    """More lines than a person reads are not compared; neither is what was not there."""
    assert show_diff(Change("f", "x\n", "y\n" * (change.DIFF_LINES + 1))) is None
    assert show_diff(Change("f", None, "y\n")) is None


@given(st.text(), st.text())
def test_a_diff_holds_every_changed_line(before: str, after: str) -> None:
    """What a diff adds is in the new text, and an empty diff means no change."""
    shown = rows(Change("f", before, after))
    added = [unescape(row[2:]) for row in shown if row.startswith("+ ")]
    assert all(line in after.split("\n") for line in added)
    assert bool(shown) == (before != after)
