"""A real program in a real pseudo-terminal, with the screen a person would see."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pexpect
import pyte

ROOT = Path(__file__).resolve().parents[3]


class PtyProgram:
    """Runs a command; `lines()` is its screen, `raw` every byte it wrote."""

    def __init__(
        self, argv: Sequence[str], columns: int, rows: int, env: dict[str, str], cwd: Path = ROOT
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        environ = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        self.child = pexpect.spawn(
            argv[0], list(argv[1:]), dimensions=(rows, columns), env=environ, cwd=str(cwd)
        )
        self.child.delaybeforesend = None

    def lines(self) -> list[str]:
        self._read(0.02)
        return [line.rstrip() for line in self.screen.display]

    def text(self) -> str:
        return "\n".join(self.lines())

    def wait_for(self, text: str, seconds: float = 15) -> list[str]:
        """The screen once it shows the text; fails with the screen when it never does."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if text in self.text():
                return self.lines()
            self._read(0.1)
        raise AssertionError(f"{text!r} never appeared on:\n{self.text()}")

    def wait_for_question(self, prompt: str) -> list[str]:
        """A question that is on the screen long enough to be answered."""
        lines = self.wait_for(prompt)
        self.settle(0.5)
        return lines

    def settle(self, seconds: float) -> None:
        """Let time pass while reading."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.05)

    def press(self, keys: str) -> None:
        self.child.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def wait_end(self, seconds: float = 15) -> int:
        """The exit code."""
        deadline = time.monotonic() + seconds
        while self.child.isalive() and time.monotonic() < deadline:
            self._read(0.05)
        assert not self.child.isalive(), f"still running:\n{self.text()}"
        for _ in range(20):
            self._read(0.01)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def _read(self, seconds: float) -> None:
        if self.child.closed:
            return
        with contextlib.suppress(pexpect.TIMEOUT, pexpect.EOF):
            data = self.child.read_nonblocking(65536, timeout=seconds)
            self.raw += data
            self.stream.feed(data)


@contextlib.contextmanager
def in_pty(
    *argv: str, columns: int = 80, rows: int = 24, env: dict[str, str] | None = None
) -> Iterator[PtyProgram]:
    """A Python module of ours in a pseudo-terminal of its own."""
    program = PtyProgram([sys.executable, "-m", *argv], columns, rows, env or {})
    try:
        yield program
    finally:
        program.child.close(force=True)
