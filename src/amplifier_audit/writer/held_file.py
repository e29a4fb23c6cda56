"""Files that a writer relies on, compared with what lies under their names.

A file that was deleted or moved away can still be written and synced without an error, into
nowhere that a reader would look.
"""

from __future__ import annotations

import os
from pathlib import Path


class TakenAway(OSError):
    """A file of the log is no longer where it was, or no longer what it was."""

    def __init__(self, reason: str) -> None:
        super().__init__(2, reason)


class HeldFile:
    """One file or folder. `size` is how long it must be at least; any thread may ask."""

    __slots__ = ("_exact", "_identity", "_link", "path", "size")

    def __init__(
        self, path: Path, descriptor: int | None = None, *, exact: bool = False, link: bool = False
    ) -> None:
        """`exact`: nobody may write it; `link`: its name may be a link."""
        self.path = path
        self.size = 0
        self._link = link
        status = path.stat() if descriptor is None else os.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)
        self._exact = (status.st_size, status.st_mtime_ns) if exact else None

    def find_loss(self) -> str | None:
        """What happened to it, or None."""
        size = self.size  # before the look: the writer may write on meanwhile
        try:
            there = self.path.stat(follow_symlinks=self._link)
        except OSError:
            return f"{self.path.name} is gone"
        if (there.st_dev, there.st_ino) != self._identity:
            return f"{self.path.name} was replaced by another file"
        if there.st_size < size:
            return f"{self.path.name} has {there.st_size} bytes, {size} were written"
        if self._exact not in (None, (there.st_size, there.st_mtime_ns)):
            return f"{self.path.name} was changed"
        return None
