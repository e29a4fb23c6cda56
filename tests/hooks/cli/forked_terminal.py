"""A forked program at a pseudo-terminal, which is used as pexpect's programs are."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import struct
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

import pexpect

from tests.support.forked_programs import ForkedProgram


class ForkedTerminal:
    """The part of `pexpect.spawn` that `PtyProgram` and its tests use."""

    def __init__(
        self, argv: Sequence[str], rows: int, columns: int, env: Mapping[str, str], cwd: Path
    ) -> None:
        self.closed = False
        self.exitstatus: int | None = None
        self._ours, theirs = pty.openpty()
        try:
            self.setwinsize(rows, columns)
            self._program = ForkedProgram(argv, [theirs] * 3, env, cwd)
        finally:
            os.close(theirs)

    def isalive(self) -> bool:
        """Whether it runs."""
        return self._program.runs

    def send(self, keys: str) -> None:
        """Type."""
        data = keys.encode()
        while data:
            data = data[os.write(self._ours, data) :]

    def setwinsize(self, rows: int, columns: int) -> None:
        """The kernel tells the program."""
        fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_nonblocking(self, size: int, timeout: float) -> bytes:
        """What it wrote, once it has; raises what pexpect raises."""
        if not select.select([self._ours], [], [], timeout)[0]:
            raise pexpect.TIMEOUT(f"nothing in {timeout} seconds")
        try:
            data = os.read(self._ours, size)
        except OSError as error:  # Linux says so when the last one has closed the terminal
            raise pexpect.EOF(str(error)) from error
        if not data:
            raise pexpect.EOF("the terminal was closed")
        return data

    def kill(self, number: int) -> None:
        """Send a signal."""
        self._program.send_signal(number)

    def close(self, force: bool = True) -> None:
        """Hang up, and see how it ended."""
        if self.closed:
            return
        self.closed = True
        os.close(self._ours)
        self._program.end()
        code = self._program.returncode
        self.exitstatus = code if code is not None and code >= 0 else None
