"""The output of a hook while it runs, kept apart from all other output.

While hooks run, `sys.stdout` and `sys.stderr` are wrapped. The wrapper asks a context variable
whose hook is running here, so that hooks of several sessions can print at the same time, and
everything that is no hook goes straight through.
"""

from __future__ import annotations

import sys
import threading
from contextvars import ContextVar
from typing import Any, TextIO

# Characters kept of one hook's output.
LIMIT = 100_000


class Capture:
    """The output of one hook, which begins to run now and is through at `end`.

    Tasks that the hook started may print later; that goes straight through.
    """

    __slots__ = ("_outside", "_pieces", "_size", "is_closed")

    def __init__(self) -> None:
        self.is_closed = False
        self._pieces: list[str] = []
        self._size = 0
        self._outside = _current.get()
        _current.set(self)

    def end(self) -> str:
        """The hook is through; returns what it printed, and how much of it did not fit."""
        self.is_closed = True
        _current.set(self._outside)
        cut = f"… {self._size - LIMIT} more characters" if self._size > LIMIT else ""
        return "".join(self._pieces) + cut

    def write(self, text: str) -> None:
        """Keep a piece, up to the limit."""
        room = LIMIT - self._size
        if room > 0:
            self._pieces.append(text[:room])
        self._size += len(text)


_current: ContextVar[Capture | None] = ContextVar("amplifier_hook_output", default=None)


class Uncaptured:
    """`with` it while a tool runs or a person is asked: inside a hook, that output is not its."""

    __slots__ = ("_before",)

    def __enter__(self) -> None:
        self._before = _current.get()
        _current.set(None)

    def __exit__(self, *_: object) -> None:
        _current.set(self._before)


class _Router:
    """Stands before a stream and turns aside what hooks print."""

    __slots__ = ("stream",)

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        capture = _current.get()
        if capture is None or capture.is_closed:
            return self.stream.write(text)
        if text:
            capture.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


_lock = threading.Lock()
_users = 0  # how many dispatches need the wrappers now


class Routing:
    """`with` it while hooks run: the standard streams are wrapped, as far as there are any."""

    __slots__ = ()

    def __enter__(self) -> None:
        global _users
        with _lock:
            _users += 1
            sys.stdout = _wrap(sys.stdout)
            sys.stderr = _wrap(sys.stderr)

    def __exit__(self, *_: object) -> None:
        """Give the streams back, unless hooks of another session are still running."""
        global _users
        with _lock:
            _users -= 1
            if not _users:
                sys.stdout = _unwrap(sys.stdout)
                sys.stderr = _unwrap(sys.stderr)


def _wrap(stream: Any) -> Any:
    if stream is None or isinstance(stream, _Router):
        return stream
    return _Router(stream)


def _unwrap(stream: Any) -> Any:
    # It may have been replaced since.
    if isinstance(stream, _Router):
        return stream.stream
    return stream
