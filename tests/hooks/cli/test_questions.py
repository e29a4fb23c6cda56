"""Questions on standard input: a command never waits for an answer that nobody can type."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

import amplifier_hooks
from amplifier_hooks.agent.session.saved_sessions import SessionInfo, SessionStore
from amplifier_hooks.guards.backup import locate_store, save
from amplifier_hooks.guards.mcp.definitions import KnownTools
from tests.hooks.cli.commands.approvals.asked import put
from tests.hooks.cli.program import PROGRAM

SECONDS = 40.0
SERVER = ["uvx", "mcp-server-time"]


def ask_about_approval(_: Path) -> list[str]:
    return ["approvals", "allow", put().id]


def ask_about_denial(_: Path) -> list[str]:
    return ["approvals", "deny", put().id]


def ask_about_backup(folder: Path) -> list[str]:
    file = folder / "file"
    file.write_text("old")
    made = save(locate_store(folder), file, tool="Write", session_id="s", max_file_bytes=100)
    assert made is not None
    return ["backups", "restore", made.id]


def ask_about_session(_: Path) -> list[str]:
    SessionStore().save(SessionInfo("abcdef"), {"messages": []})
    return ["sessions", "delete", "abcdef"]


def ask_about_tool(_: Path) -> list[str]:
    KnownTools().note_waiting(SERVER, "time", {"now": {"name": "now"}})
    return ["mcp", "tools", "allow", "time", "now"]


def ask_about_tools(_: Path) -> list[str]:
    KnownTools().allow(SERVER, "time", [{"name": "now"}], "ada")
    return ["mcp", "tools", "forget", "time"]


def ask_about_trust(folder: Path) -> list[str]:
    (folder / "amplifier.yaml").write_text("name: mine\nhooks:\n  - module: ./hook.py\n")
    (folder / "hook.py").write_text("")
    return ["trust"]


def ask_about_lost_bundle(folder: Path) -> list[str]:
    """A session whose bundle is gone: whether to go on with another one."""
    gone = str(folder / "gone.yaml")
    saved = SessionInfo("abcdef", working_dir=str(folder), bundle=gone)
    SessionStore().save(saved, {"messages": []})
    return ["run", "--resume", "abcdef", "hello"]


QUESTIONS: dict[Callable[[Path], list[str]], str] = {
    ask_about_approval: "--yes",
    ask_about_denial: "--yes",
    ask_about_backup: "--yes",
    ask_about_session: "--yes",
    ask_about_tool: "--digest",
    ask_about_tools: "--yes",
    ask_about_trust: "--digest",
    ask_about_lost_bundle: "--bundle",
}
"""Every question of a command, with the option that answers it in a script."""


@contextmanager
def open_silent_pipe() -> Iterator[int]:
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


@contextmanager
def open_nothing() -> Iterator[int]:
    with Path(os.devnull).open() as file:
        yield file.fileno()


@pytest.mark.parametrize("stdin", [open_silent_pipe, open_nothing])
@pytest.mark.parametrize("question", QUESTIONS)
def test_no_command_waits_for_an_answer_at_a_pipe(
    question: Callable[[Path], list[str]],
    stdin: Callable[[], AbstractContextManager[int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where a terminal stands somewhere above the script; it says what answers instead."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.chdir(tmp_path)
    words = question(tmp_path)
    mine, theirs = pty.openpty()
    with stdin() as given:
        script = f'exec "$@" < /dev/fd/{given}'
        at_terminal = ["setsid", "--ctty", "--wait", "sh", "-c", script, "sh"]
        done = subprocess.run(
            [*at_terminal, *PROGRAM, *words],
            stdin=theirs,
            capture_output=True,
            pass_fds=[given],
            text=True,
            timeout=SECONDS,
            check=False,
        )
    os.close(mine)
    os.close(theirs)
    assert done.returncode != 0, done.stdout
    assert QUESTIONS[question] in done.stderr


def test_questions_are_asked_in_one_place() -> None:
    """Which looks for a terminal first; a new question elsewhere is found here."""
    folder = Path(amplifier_hooks.__file__).parent
    asking = re.compile(r"click\.(confirm|prompt|getchar|pause)\(|\binput\(\)|getpass\.getpass\(")
    found = [path.name for path in folder.rglob("*.py") if asking.search(path.read_text())]
    assert found == ["person.py"]
