"""The controlling terminal: there or not, and what it can show."""

from __future__ import annotations

import locale
import os
import shlex
import subprocess
import sys
import termios
import tty
from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_hooks.cli import terminal
from amplifier_hooks.cli.terminal import NoTerminal, is_ascii_only, make_output, open_terminal
from tests.hooks.cli.pty_program import run_in_pty

ASK = """
from amplifier_hooks.cli.terminal import NoTerminal, open_terminal
try:
    with open_terminal() as terminal:
        terminal.writing.write("asked here\\n")
        print("blocking:", __import__("os").get_blocking(0))
except NoTerminal as error:
    print("NoTerminal:", error)
"""


def test_a_session_without_a_terminal_has_none() -> None:
    """Whatever is on standard input."""
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        input="y\n",
        capture_output=True,
        text=True,
        start_new_session=True,
        check=True,
    )
    assert done.stdout == "NoTerminal: no terminal to ask on (No such device or address)\n"


def test_the_terminal_itself_is_used_and_standard_input_left_as_it_is() -> None:
    """Handles of its own: what others share does not become non-blocking."""
    line = f'echo piped | {shlex.quote(sys.executable)} -c "$0"'
    with run_in_pty("bash", "-c", line, ASK) as program:
        assert program.wait_end() == 0
        assert "asked here" in program.text()
        assert "blocking: True" in program.text()


def test_a_dumb_terminal_is_none() -> None:
    """It could not show the question."""
    with run_in_pty(sys.executable, "-c", ASK, env={"TERM": "dumb"}) as program:
        program.wait_end()
        assert "NoTerminal: the terminal cannot show a question (TERM=dumb)" in program.text()


def test_a_job_in_the_background_has_none() -> None:
    """Reading would stop it."""
    line = f'set -m; {shlex.quote(sys.executable)} -c "$0" & wait'
    with run_in_pty("bash", "-c", line, ASK) as program:
        program.wait_end()
        assert "NoTerminal: this process runs in the background" in program.text()


def test_a_file_is_no_terminal(tmp_path: Path) -> None:
    """It is named."""
    (tmp_path / "tty").touch()
    with (
        pytest.raises(NoTerminal, match="tty is not a terminal"),
        open_terminal(str(tmp_path / "tty")),
    ):
        pass


@pytest.fixture
def slave() -> Iterator[int]:
    """One end of a pseudo-terminal of 100 columns."""
    master, slave = os.openpty()
    tty.setraw(slave)
    termios.tcsetwinsize(slave, (30, 100))
    yield slave
    os.close(slave)
    os.close(master)


def test_what_was_typed_before_is_forgotten() -> None:
    """Only what is typed from now on counts."""
    master, slave = os.openpty()
    tty.setraw(slave)
    with os.fdopen(slave) as reading, os.fdopen(os.dup(slave), "w") as writing:
        os.write(master, b"too early")
        terminal.Terminal(reading, writing).discard_typeahead()
        os.write(master, b"now")
        assert os.read(slave, 100) == b"now"
    os.close(master)


def test_an_output_has_the_size_of_its_terminal(slave: int) -> None:
    """And asks the terminal nothing that would come back as input."""
    with open(slave, "w", closefd=False) as stream:
        output = make_output(stream)
        assert tuple(output.get_size()) == (30, 100)
        assert not output.responds_to_cpr


@pytest.mark.parametrize(
    ("encoding", "ascii_only"),
    [("UTF-8", False), ("utf8", False), ("ANSI_X3.4-1968", True), ("ISO-8859-1", True)],
)
def test_other_encodings_than_utf_8_are_taken_for_ascii(
    monkeypatch: pytest.MonkeyPatch, encoding: str, ascii_only: bool
) -> None:
    """What they all share."""
    if sys.flags.utf8_mode:
        pytest.skip("Python itself decided for UTF-8")
    monkeypatch.setattr(locale, "getencoding", lambda: encoding)
    assert is_ascii_only() == ascii_only
