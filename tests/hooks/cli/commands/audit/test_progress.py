"""How far a long reading is."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from amplifier_audit import open_log
from amplifier_audit.reader import read_whole_lines
from amplifier_hooks.cli.commands.audit.options import (
    PATIENCE,
    Progress,
    show_progress,
)
from tests.hooks.cli.program import invoke
from tests.hooks.cli.pty_program import run_in_pty


class Clock:
    """Time that passes when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """Standard error, and a person looks at it."""

    def isatty(self) -> bool:
        return True

    def take(self) -> str:
        """What was written since the last look."""
        written = self.getvalue()
        self.seek(0)
        self.truncate()
        return written


def test_progress_is_shown_once_it_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not before; and it is gone when something else is written or the work is done."""
    clock, terminal = Clock(), Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress("Reading", 200, clock)
    progress.update(1)
    assert terminal.take() == ""
    clock.now = PATIENCE
    progress.update(50)
    progress.update(51)
    assert terminal.take() == "\r\x1b[2KReading 25 %"
    progress.clear()
    progress.clear()
    assert terminal.take() == "\r\x1b[2K"
    progress.end()
    clock.now = 1000
    progress.update(100)
    assert terminal.take() == ""


def test_without_a_total_it_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A log may have lost what its writer remembered."""
    clock, terminal = Clock(), Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    progress = Progress("Reading", 0, clock)
    clock.now = PATIENCE
    progress.update(12_000)
    assert terminal.take() == "\r\x1b[2KReading 12,000"


def test_nothing_is_drawn_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    """A file of errors holds errors."""
    clock = Clock()
    progress = Progress("Reading", 10, clock)
    clock.now = 1000
    progress.update(5)
    assert capsys.readouterr().err == ""


def test_the_line_is_gone_however_the_work_ends() -> None:
    """Also by an error."""
    with pytest.raises(ZeroDivisionError), show_progress("Reading", 1) as progress:
        raise ZeroDivisionError
    progress.update(1)


def test_how_far_a_reading_is_is_told_in_bytes(log: Path) -> None:
    """All of them, in the end; what is read does not depend on whether anybody is told."""
    files = open_log(log)
    told: list[int] = []
    lines = list(read_whole_lines(files, told.append))
    assert lines == list(read_whole_lines(files))
    assert told == sorted(told)
    assert told[-1] == files.size == sum(map(len, lines))


@pytest.mark.parametrize(
    ("command", "word"), [("show", "Reading"), ("stats", "Counting"), ("verify", "Verifying")]
)
def test_commands_that_may_take_long_say_how_far_they_are(
    log: Path, command: str, word: str
) -> None:
    """On a terminal, where nothing of it is left; a script reads the output alone."""
    quiet = invoke("audit", command, log)
    assert quiet.stderr == ""
    code = (
        "from amplifier_hooks.cli.main import main;"
        "from amplifier_hooks.cli.commands.audit import options as progress;"
        "progress.PATIENCE = 0.0;"
        f"main(['audit', '{command}', '{log}'])"
    )
    with run_in_pty(sys.executable, "-c", code, columns=200, rows=60) as program:
        assert program.wait_end() == quiet.code
        assert word.encode() in program.raw
        assert word not in program.text()
        assert quiet.stdout.split()[0] in program.text()
