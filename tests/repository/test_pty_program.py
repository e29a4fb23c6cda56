"""A program that a test runs in a terminal is as one that a person runs there."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator

import pytest

from tests.hooks.cli.pty_program import run_in_pty

LEAVES = """
import os
from tests.support.processes import leave_terminal
leave_terminal()
try:
    os.open("/dev/tty", os.O_RDWR)
except OSError as error:
    print(error.strerror, flush=True)
__import__("signal").pause()
"""
WAITS = "import signal; print('ready', flush=True); signal.pause()"


@pytest.fixture
def deaf() -> Iterator[None]:
    """As a job that a script runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("deaf")
def test_ctrl_c_reaches_it_though_the_tests_run_in_the_background() -> None:
    """Children inherit an ignored signal, and would ignore it as well."""
    with run_in_pty(sys.executable, "-c", WAITS) as program:
        program.wait_for("ready")
        program.press("\x03")
        program.wait_end()
        assert "KeyboardInterrupt" in program.text()


def test_what_tests_run_finds_no_terminal_to_ask_at() -> None:
    """Also if a person runs them at one, who can still stop them with Ctrl-C."""
    with run_in_pty("bash", "-c", '"$0" -c "$1"; echo ended', sys.executable, LEAVES) as program:
        program.wait_for("No such device or address")
        program.press("\x03")
        program.wait_for("KeyboardInterrupt")
