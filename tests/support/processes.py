"""Processes of tests: whether they run, what they heed, and that they have no terminal."""

from __future__ import annotations

import fcntl
import os
import signal
import termios
from contextlib import suppress
from pathlib import Path


def is_running(marker: Path) -> bool:
    """Whether the process whose id stands in the file runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{int(marker.read_text())}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in "ZX"


def is_written(marker: Path) -> bool:
    """Whether the file is there and holds something."""
    return marker.exists() and bool(marker.read_text().strip())


def handle_interrupts() -> None:
    """For `preexec_fn`: a shell's background jobs, as half of our tests are, ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def leave_terminal() -> None:
    """Give up the terminal that the tests were started at: what they run would ask a person there.

    Ctrl-C still reaches us, as it is sent to our whole group. A leader of its session keeps the
    terminal, because everything in it would be hung up.
    """
    if os.getsid(0) == os.getpid():
        return
    with suppress(OSError):  # there is none
        terminal = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
        try:
            fcntl.ioctl(terminal, termios.TIOCNOTTY)
        finally:
            os.close(terminal)
