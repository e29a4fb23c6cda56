"""What a call would do, before it is allowed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.approvals.change import DIFF_LINES, Change
from amplifier_hooks.cli.approval.preview import (
    Preview,
    highlight,
    make_preview,
    show_diff,
    show_exact_input,
)
from amplifier_hooks.cli.text.fragments import join_text
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from amplifier_hooks.text.escape import unescape
from tests.hooks.cli.hostile_text import hostile, is_harmless


def rows(made: Change) -> list[str]:
    return [join_text(line) for line in show_diff(made) or []]


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
    assert show_diff(Change("f", "x\n", "y\n" * (DIFF_LINES + 1))) is None
    assert show_diff(Change("f", None, "y\n")) is None


@given(st.text(), st.text())
def test_a_diff_holds_every_changed_line(before: str, after: str) -> None:
    """What a diff adds is in the new text, and an empty diff means no change."""
    shown = rows(Change("f", before, after))
    added = [unescape(row[2:]) for row in shown if row.startswith("+ ")]
    assert all(line in after.split("\n") for line in added)
    assert bool(shown) == (before != after)


def body(view: Preview) -> str:
    return "\n".join(join_text(line) for line in view.body)


def test_a_write_over_a_file_is_a_diff(tmp_path: Path) -> None:
    """What goes and what comes, under the tool and its target."""
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\n")
    view = make_preview("Write", {"file_path": "a.txt", "content": "one\n2\nthree\n"}, tmp_path)
    assert "- two\n+ 2" in body(view)
    assert join_text(view.headline) == "Write  a.txt"


def test_a_new_file_is_shown_whole(tmp_path: Path) -> None:
    """Without a file to compare with, all of the content, and whether its last line ends."""
    view = make_preview("Write", {"file_path": "new.txt", "content": "a\nb"}, tmp_path)
    assert body(view) == "+ a\n+ b\n  (no newline at the end)"
    assert view.notes == ("The file does not exist yet.",)
    view = make_preview("Write", {"file_path": "new.txt", "content": "a\n"}, tmp_path)
    assert body(view) == "+ a"


def test_a_file_that_cannot_be_compared_is_said_to_be_there(tmp_path: Path) -> None:
    """It would be replaced, not made."""
    (tmp_path / "image").write_bytes(b"\xff\xfe")
    view = make_preview("Write", {"file_path": "image", "content": "a\n"}, tmp_path)
    assert "it would be replaced" in view.notes[0]


def test_several_edits_are_one_diff(tmp_path: Path) -> None:
    """What the file would be after all of them."""
    (tmp_path / "a.txt").write_text("x = 1\ny = 2\nx = 1\n")
    edits = [
        {"old_string": "x = 1", "new_string": "x = 9", "replace_all": True},
        {"old_string": "y = 2", "new_string": "y = 3"},
    ]
    shown = body(make_preview("MultiEdit", {"file_path": "a.txt", "edits": edits}, tmp_path))
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
    shown = unescape(body(make_preview("Edit", odd, tmp_path)))
    assert all(str(value) in shown for value in odd.values())


@pytest.mark.parametrize("tool", sorted(EDITING_TOOLS))
def test_an_unusual_input_of_an_editing_tool_is_shown_field_by_field(
    tool: str, tmp_path: Path
) -> None:
    """Every editing tool has a preview, also for an input that it does not know."""
    shown = body(make_preview(tool, {"cell": 3, "text": "a\nb"}, tmp_path))
    assert shown == "cell: 3\ntext: \na\nb"


def test_a_symlink_says_where_it_leads(tmp_path: Path) -> None:
    """What is written to is what is shown."""
    (tmp_path / "real.txt").write_text("x\n")
    (tmp_path / "link.txt").symlink_to("real.txt")
    view = make_preview("Write", {"file_path": "link.txt", "content": "y\n"}, tmp_path)
    assert any(str(tmp_path / "real.txt") in note for note in view.notes)


def test_an_unchanged_file_is_said_to_be_so(tmp_path: Path) -> None:
    """An empty diff is explained."""
    (tmp_path / "a.txt").write_text("x\n")
    view = make_preview("Write", {"file_path": "a.txt", "content": "x\n"}, tmp_path)
    assert view.notes == ("The file would stay exactly as it is.",)


def test_a_command_stands_before_its_other_fields(tmp_path: Path) -> None:
    """The command is what matters, yet nothing is left out."""
    view = make_preview("Bash", {"timeout": 3, "command": "ls"}, tmp_path)
    assert body(view) == "ls\n\ntimeout: 3"
    assert body(make_preview("Bash", {"command": "ls"}, tmp_path)) == "ls"


@given(st.text())
def test_highlighting_changes_no_character(command: str) -> None:
    """Colour is for the eye; the command is the command."""
    assert unescape("\n".join(join_text(line) for line in highlight(command))) == command


def test_programs_and_operators_stand_out() -> None:
    """The first word after each operator is a program."""
    (line,) = highlight("git push && rm -rf 'x y' | sh")
    assert [text for style, text in line if style == "program"] == ["git", "rm", "sh"]
    assert [text for style, text in line if style == "operator"] == ["&&", "|"]
    assert [text for style, text in line if style == "string"] == ["'x y'"]


@given(hostile, hostile)
def test_no_part_of_a_preview_moves_the_terminal(name: str, text: str) -> None:
    """Neither the tool's name nor a key nor a value."""
    view = make_preview(name, {text: text, "more": [text]}, Path())
    lines = [view.headline, *view.body, *show_exact_input({text: [text]})]
    assert all(is_harmless(join_text(line)) for line in lines)


def test_any_input_can_be_shown_exactly() -> None:
    """Odd values do not break the view."""
    loop: dict[str, Any] = {}
    loop["self"] = loop
    assert "cannot be written" in join_text(show_exact_input(loop)[0])
    assert join_text(show_exact_input({"a": b"\x1b"})[1]) == '  "a": "b\'\\\\x1b\'"'
