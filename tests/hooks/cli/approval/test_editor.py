"""Finding the person's editor; what it does at a terminal is in test_terminal_approval."""

from __future__ import annotations

import asyncio
import os
import termios
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.cli.approval.editor import (
    LONGEST_LINE,
    BadEdit,
    EditableInput,
    Move,
    NoEditor,
    Removal,
    TextField,
    edit_text,
    find_editor,
)
from amplifier_hooks.cli.terminal import Terminal

OPTIONS = ("Allow once", "Allow always", "Deny")


def ask(tool: str, given: dict[str, Any], **more: Any) -> ApprovalQuestion:
    fields = {"event": "tool:pre", "options": OPTIONS, **more}
    return ApprovalQuestion(
        "?", timeout=60, default="deny", hook="h", tool_name=tool, tool_input=given, **fields
    )


def edit(tool: str, given: dict[str, Any]) -> EditableInput:
    found = EditableInput.of(ask(tool, given))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tool", "given", "shown", "edited", "applied"),
    [
        # Not the JSON around it; an editor's own last newline is not part of it.
        (
            "Bash",
            {"command": "ls", "timeout": 5},
            ("ls", ".sh", True),
            "ls -l\n",
            {"command": "ls -l", "timeout": 5},
        ),
        # The editor knows the language; a last newline that was there stays.
        (
            "Write",
            {"file_path": "a.py", "content": "x = 1\n"},
            ("x = 1\n", ".py", False),
            "x = 2\n",
            {"file_path": "a.py", "content": "x = 2\n"},
        ),
        # Of anything else every key, as JSON.
        (
            "Fetch",
            {"url": "ä"},
            ('{\n  "url": "ä"\n}\n', ".json", False),
            '{"url": "b", "depth": 2}',
            {"url": "b", "depth": 2},
        ),
    ],
    ids=["command", "file", "anything else"],
)
def test_what_matters_of_an_input_is_edited(
    tool: str,
    given: dict[str, Any],
    shown: tuple[str, str, bool],
    edited: str,
    applied: dict[str, Any],
) -> None:
    """A command's text, a file's content; the rest of the input stays."""
    part = edit(tool, given)
    assert (part.text, part.suffix, part.is_line) == shown
    assert part.apply(edited) == applied


@pytest.mark.parametrize(("text", "what"), [("{", "not valid JSON"), ("[1]", "not a list")])
def test_an_edited_text_that_is_no_input_is_refused(text: str, what: str) -> None:
    """With what is wrong, and the key that goes on."""
    with pytest.raises(BadEdit, match=f"{what}.*Press e"):
        edit("Fetch", {}).apply(text)


@pytest.mark.parametrize("command", ["a\nb", "a\tb", "a\x1bb", "\u202ea", "x" * (LONGEST_LINE + 1)])
def test_only_a_short_command_that_shows_as_it_is_is_edited_in_place(command: str) -> None:
    """Of anything else a line on the screen would not be the whole truth."""
    assert not edit("Bash", {"command": command}).is_line


@pytest.mark.parametrize(
    "question",
    [
        ask("Bash", {"command": "ls"}, event="tool:post"),
        ask("", {}),
        ask("Bash", {"command": "ls"}, options=("Allow always", "Deny")),
        ask("Fetch", {"x": object()}),
    ],
)
def test_nothing_is_edited_that_could_not_run_so(question: ApprovalQuestion) -> None:
    """After the call, without a call, where only an always allows, where no text says it all."""
    assert EditableInput.of(question) is None


def test_what_is_typed_goes_in_before_the_cursor() -> None:
    """And nothing unseen: a pasted line break is a space, for a second line is a second command."""
    field = TextField.holding("rm build").move("home").move("right").move("right").insert(" -r")
    assert field.text == "rm -r build"
    assert field.parts == ("rm -r", " ", "build")
    assert TextField.holding("").insert("a\nb\x1b\u202ec").text == "a bc"


@pytest.mark.parametrize(
    ("which", "text", "cursor"),
    [("before", "abd", 2), ("after", "abc", 3), ("all before", "d", 0)],
)
def test_characters_are_taken_out_beside_the_cursor(which: Removal, text: str, cursor: int) -> None:
    """Backspace, Delete, and Ctrl-U."""
    field = TextField("abcd", 3).remove(which)
    assert (field.text, field.cursor) == (text, cursor)


moves: st.SearchStrategy[Move] = st.sampled_from(["left", "right", "home", "end"])
removals: st.SearchStrategy[Removal] = st.sampled_from(["before", "after", "all before"])


@given(st.text(max_size=5), st.lists(st.one_of(moves, removals), max_size=20))
def test_the_cursor_stays_in_the_text(text: str, steps: list[Move | Removal]) -> None:
    """Whatever keys are pressed."""
    field = TextField.holding(text)
    for step in steps:
        match step:
            case "left" | "right" | "home" | "end":
                field = field.move(step)
            case _:
                field = field.remove(step)
        assert 0 <= field.cursor <= len(field.text)
        assert "".join(field.parts) == field.text


def install(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    return str(folder)


@pytest.mark.parametrize(
    ("env", "found"),
    [
        ({"VISUAL": "code --wait", "EDITOR": "ed"}, ["code", "--wait"]),
        ({"VISUAL": "", "EDITOR": "ed"}, ["ed"]),
        ({}, ["vi"]),  # the first that is installed
    ],
)
def test_visual_comes_before_editor_and_may_have_options(
    env: dict[str, str], found: list[str], tmp_path: Path
) -> None:
    """As every program that opens an editor does it; without either a usual one is taken."""
    assert find_editor({"PATH": install(tmp_path, "code", "ed", "vi"), **env}) == found


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ({}, "set EDITOR"),
        ({"EDITOR": "nowhere -x"}, "EDITOR names 'nowhere', which is not installed"),
        ({"VISUAL": "'open"}, "VISUAL cannot be read as a command"),
    ],
)
def test_what_is_missing_is_said(env: dict[str, str], what: str, tmp_path: Path) -> None:
    """Which variable, and what would do."""
    with pytest.raises(NoEditor, match=what):
        find_editor({"PATH": str(tmp_path), **env})


async def test_text_that_no_file_can_hold_is_not_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a character cannot be written down; the temporary folder is gone all the same."""
    monkeypatch.setenv("EDITOR", "true")
    monkeypatch.setenv("VISUAL", "")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with (
        Path("/dev/null").open() as reading,
        Path("/dev/null").open("w") as writing,
        pytest.raises(NoEditor, match="left nothing that can be used"),
    ):
        await edit_text("\ud800", ".sh", Terminal(reading, writing))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("stubborn", ["", "trap '' TERM; "])
async def test_an_editor_whose_time_is_up_is_ended_and_leaves_the_terminal_as_it_was(
    stubborn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time of a question goes on while its input is edited."""
    editor, pid = tmp_path / "editor", tmp_path / "pid"
    editor.write_text(
        f"#!/bin/sh\n{stubborn}stty raw -echo\necho $$ > {pid}.new; mv {pid}.new {pid}\n"
        "while :; do sleep 0.1; done\n"
    )
    editor.chmod(0o700)
    monkeypatch.setenv("VISUAL", str(editor))
    monkeypatch.setattr("amplifier_hooks.cli.approval.editor.GRACE_SECONDS", 0.2)
    master, slave = os.openpty()
    before = termios.tcgetattr(slave)
    with os.fdopen(slave) as reading, os.fdopen(master, "w") as writing:
        editing = asyncio.create_task(edit_text("x", ".sh", Terminal(reading, writing)))
        async with asyncio.timeout(50):
            while not pid.exists():
                await asyncio.sleep(0.01)
        editing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await editing
        assert termios.tcgetattr(slave) == before
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid.read_text()), 0)
