"""Finding the person's editor; what it does at a terminal is in test_terminal_approval."""

from __future__ import annotations

import asyncio
import os
import termios
from pathlib import Path

import pytest

from amplifier_hooks.cli.approval.editor import NoEditor, edit_text, find_editor
from amplifier_hooks.cli.terminal import Terminal


def install(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o700)
    return str(folder)


def test_visual_comes_before_editor_and_may_have_options(tmp_path: Path) -> None:
    """As every program that opens an editor does it."""
    env = {"PATH": install(tmp_path, "code", "ed"), "VISUAL": "code --wait", "EDITOR": "ed"}
    assert find_editor(env) == ["code", "--wait"]
    assert find_editor({**env, "VISUAL": ""}) == ["ed"]


def test_without_either_a_usual_one_is_taken(tmp_path: Path) -> None:
    """The first that is installed."""
    assert find_editor({"PATH": install(tmp_path, "vi")}) == ["vi"]


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
