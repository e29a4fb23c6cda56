"""What a hook prints while it runs, kept apart from what everybody else prints.

`sys.stdout` and `sys.stderr` are wrapped once. The wrapper asks a context variable whose hook is
running here, so that hooks of several sessions can print at the same time, and everything that is
no hook goes straight through.
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from typing import Any, TextIO

LIMIT = 100_000
"""Characters kept of one hook's output."""


class Capture:
    """The output of one hook, until it is closed."""

    __slots__ = ("_pieces", "_size", "closed")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0
        self.closed = False

    def write(self, text: str) -> None:
        """Keep a piece, up to the limit."""
        room = LIMIT - self._size
        if room > 0:
            self._pieces.append(text[:room])
        self._size += len(text)

    def text(self) -> str:
        """Everything that was printed, and how much of it did not fit."""
        cut = f"… {self._size - LIMIT} more characters" if self._size > LIMIT else ""
        return "".join(self._pieces) + cut


_running: ContextVar[Capture | None] = ContextVar("amplifier_hook_output", default=None)
_installing = threading.Lock()


class _Router:
    """Stands before a stream and turns aside what hooks print."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        capture = _running.get()
        if capture is None or capture.closed:
            return self._stream.write(text)
        capture.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def install() -> None:
    """Wrap the standard streams, unless they are wrapped or there are none."""
    with _installing:
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if stream is not None and not isinstance(stream, _Router):
                setattr(sys, name, _Router(stream))


def begin() -> Capture | None:
    """From here on, what this task prints belongs to a hook; returns what held before."""
    before = _running.get()
    _running.set(Capture())
    return before


def end(before: Capture | None) -> str:
    """The hook is through; returns what it printed."""
    capture = _running.get()
    _running.set(before)
    if capture is None:
        return ""
    capture.closed = True
    return capture.text() if capture._pieces else ""


def release() -> Capture | None:
    """A tool runs, perhaps inside a hook: its output is nobody's but its own."""
    before = _running.get()
    if before is not None:
        _running.set(None)
    return before


def restore(before: Capture | None) -> None:
    """The tool is through."""
    if before is not None:
        _running.set(before)
