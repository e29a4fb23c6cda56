"""A real program in a real pseudo-terminal, with the screen a person would see."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pexpect
import pyte

from tests.hooks.cli.forked_terminal import ForkedTerminal
from tests.support.forked_programs import can_fork
from tests.support.processes import handle_interrupts

ROOT = Path(__file__).resolve().parents[3]
SECONDS = 50.0  # only a program that hangs takes as long


class PtyProgram:
    """Runs a command; `lines()` is its screen, `raw` every byte it wrote."""

    def __init__(
        self, argv: Sequence[str], columns: int, rows: int, env: dict[str, str], cwd: Path = ROOT
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        environ = {**os.environ, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env}
        self.child = start_at_terminal(argv, columns, rows, environ, cwd)

    def lines(self) -> list[str]:
        """The screen as it is now."""
        self._read(0.02)
        return [line.rstrip() for line in self.screen.display]

    def text(self) -> str:
        """The same in one string."""
        return "\n".join(self.lines())

    def wait_until(
        self, is_there: Callable[[list[str]], object], what: str, seconds: float = SECONDS
    ) -> list[str]:
        """The first screen that fits. It is drawn in pieces, so look at this one and no other."""
        deadline = time.monotonic() + seconds
        while not is_there(lines := self.lines()):
            screen = "\n".join(lines)
            assert time.monotonic() < deadline, f"{what} never appeared on:\n{screen}"
            self._read(0.1)
        return lines

    def wait_for(self, *texts: str, seconds: float = SECONDS) -> list[str]:
        """The first screen with all of these texts on it."""

        def are_there(lines: list[str]) -> bool:
            screen = "\n".join(lines)
            return all(text in screen for text in texts)

        return self.wait_until(are_there, repr(texts), seconds)

    def wait_for_question(self, *texts: str) -> list[str]:
        """A question that can be answered: keys are named once they count."""
        return self.wait_for("Approval needed", "Esc refuse", *texts)

    def pass_time(self, seconds: float) -> None:
        """Let time pass while reading, where nothing may happen."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(0.05)

    def press(self, keys: str) -> None:
        """Type."""
        self.child.send(keys)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self.child.setwinsize(rows, columns)
        self.screen.resize(rows, columns)

    def wait_end(self, seconds: float = SECONDS) -> int:
        """The exit code, once everything the program wrote has been read."""
        deadline = time.monotonic() + seconds
        while (count := self._read(0.05)) or self.child.isalive():
            assert time.monotonic() < deadline, f"still running:\n{self.text()}"
            if count is None:  # it has closed its terminal and is about to end
                time.sleep(0.005)
        self.child.close()
        return int(self.child.exitstatus if self.child.exitstatus is not None else -1)

    def _read(self, seconds: float) -> int | None:
        """How many bytes came; None once the program has closed its terminal."""
        if self.child.closed:
            return None
        try:
            data: bytes = self.child.read_nonblocking(65536, timeout=seconds)
        except pexpect.TIMEOUT:
            return 0
        except pexpect.EOF:
            return None
        self.raw += data
        self.stream.feed(data)
        return len(data)


def start_at_terminal(
    argv: Sequence[str], columns: int, rows: int, env: dict[str, str], cwd: Path
) -> pexpect.spawn | ForkedTerminal:
    """A module of Python is forked: what it does is tested, not how it is imported."""
    if can_fork(argv, env):
        return ForkedTerminal(argv, rows, columns, env, cwd)
    child = pexpect.spawn(
        argv[0],
        list(argv[1:]),
        dimensions=(rows, columns),
        env=env,
        cwd=str(cwd),
        preexec_fn=handle_interrupts,
    )
    child.delaybeforesend = None
    return child


@contextlib.contextmanager
def run_in_pty(
    *argv: str,
    columns: int = 80,
    rows: int = 24,
    env: dict[str, str] | None = None,
    cwd: Path = ROOT,
) -> Iterator[PtyProgram]:
    """A program in a pseudo-terminal of its own."""
    program = PtyProgram(argv, columns, rows, env or {}, cwd)
    try:
        yield program
    finally:
        program.child.close(force=True)


def python(module: str, *arguments: str) -> list[str]:
    """The command that runs a module of ours."""
    return [sys.executable, "-m", module, *arguments]
