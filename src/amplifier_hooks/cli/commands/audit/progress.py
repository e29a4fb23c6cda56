"""How far a long reading is, on the terminal of whoever waits for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amplifier_audit import LogFiles, Record

PATIENCE = 0.5
"""Seconds after which somebody wants to know whether anything happens."""
_PAUSE = 0.1


class Progress:
    """One line on standard error, drawn once the work takes long and wiped when it is done."""

    def __init__(self, what: str, total: int, now: Callable[[], float] = time.monotonic) -> None:
        self._what = what
        self._total = total
        self._now = now
        self._next = now() + PATIENCE if sys.stderr.isatty() else float("inf")
        self._drawn = False

    def update(self, done: int) -> None:
        """So much of the total is done."""
        if self._now() < self._next:
            return
        self._next = self._now() + _PAUSE
        share = f" {min(100, 100 * done // self._total)} %" if self._total else f" {done:,}"
        self._draw(f"{self._what}{share}")

    def clear(self) -> None:
        """Wipe the line, because something else is about to be written."""
        if self._drawn:
            self._draw("")
        self._drawn = False

    def end(self) -> None:
        """Wipe the line for good."""
        self.clear()
        self._next = float("inf")

    def _draw(self, text: str) -> None:
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()
        self._drawn = True


@contextmanager
def show_progress(what: str, total: int) -> Iterator[Progress]:
    """A line that is gone when the work is done, however it ends."""
    progress = Progress(what, total)
    try:
        progress.update(0)
        yield progress
    finally:
        progress.end()


def count_records(files: LogFiles) -> int:
    """How many records there are, as the writer remembers it; 0 if it does not."""
    return files.state.head.size if files.state else 0


def watch(records: Iterable[Record], progress: Progress) -> Iterator[Record]:
    """The same records, with the progress told of each."""
    for record in records:
        progress.update(record["seq"])
        yield record
