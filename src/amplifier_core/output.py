"""What a hook prints while it runs, kept apart from what everybody else prints.

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
    """The output of one hook."""

    __slots__ = ("_pieces", "_size")

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._size = 0

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


# A list, because most hooks print nothing and an empty list costs nothing: it gets its capture at
# the first print, and is closed with None when the hook is through. Tasks that the hook started
# still hold it then, and what they print goes straight through.
Holder = list[Capture | None]

running: ContextVar[Holder | None] = ContextVar("amplifier_hook_output", default=None)
_installing = threading.Lock()
# Called by name, because `with` costs twice as much.
_acquire, _release = _installing.acquire, _installing.release
_users = 0  # how many dispatches need the wrapper now


class _Router:
    """Stands before a stream and turns aside what hooks print."""

    __slots__ = ("stream",)

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        holder = running.get()
        if holder is None or (holder and holder[-1] is None):
            return self.stream.write(text)
        if not holder:
            holder.append(Capture())
        capture = holder[0]
        if capture is not None and text:
            capture.write(text)
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


# Wrappers are used again: making one costs as much as a hook.
_kept = [_Router(sys.stdout), _Router(sys.stderr)]


def install() -> None:
    """Wrap the standard streams, as far as there are any, until `remove` is called as often."""
    global _users
    _acquire()
    try:
        _users += 1
        if type(out := sys.stdout) is not _Router and out is not None:
            sys.stdout = _kept[0] if _kept[0].stream is out else _wrap(0, out)
        if type(err := sys.stderr) is not _Router and err is not None:
            sys.stderr = _kept[1] if _kept[1].stream is err else _wrap(1, err)
    finally:
        _release()


def _wrap(place: int, stream: TextIO) -> Any:
    _kept[place] = _Router(stream)
    return _kept[place]


def remove() -> None:
    """Give the streams back, unless hooks of somebody else are still running."""
    global _users
    _acquire()
    try:
        _users -= 1
        if not _users:
            # Somebody may have replaced them since.
            if type(out := sys.stdout) is _Router:
                sys.stdout = out.stream
            if type(err := sys.stderr) is _Router:
                sys.stderr = err.stream
    finally:
        _release()


def release() -> Holder | None:
    """A tool runs or a person is asked, perhaps inside a hook: that output is not the hook's."""
    before = running.get()
    if before is not None:
        running.set(None)
    return before


def restore(before: Holder | None) -> None:
    """That is over."""
    if before is not None:
        running.set(before)
