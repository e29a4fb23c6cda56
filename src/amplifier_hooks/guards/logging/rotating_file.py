"""A file that lines are appended to and that never grows past its limit."""

from __future__ import annotations

import os
import threading
from pathlib import Path

# Sessions of one process may share a file; a rotation during another's write would lose it.
_writing = threading.Lock()


class RotatingFile:
    """Opened for each batch, so that a rotation by another session leaves no stale handle."""

    def __init__(self, path: Path, max_bytes: int, backups: int) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._backups = backups

    def append(self, lines: list[bytes]) -> None:
        """Write whole lines. Blocks; OSError when the disk says no."""
        with _writing:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            size = self._measure()
            batch: list[bytes] = []
            for line in lines:
                if size and size + len(line) > self._max_bytes:
                    self._write(batch)
                    self._rotate()
                    batch, size = [], 0
                batch.append(line)
                size += len(line)
            self._write(batch)

    def _measure(self) -> int:
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _write(self, batch: list[bytes]) -> None:
        if not batch:
            return
        # Events hold prompts and file contents: nobody else's business.
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(handle, "ab") as file:
            file.write(b"".join(batch))

    def _rotate(self) -> None:
        """`log` becomes `log.1`, `log.1` becomes `log.2`; the oldest goes."""
        if not self.path.exists():
            return
        for number in range(self._backups - 1, 0, -1):
            older = self._name_backup(number)
            if older.exists():
                older.replace(self._name_backup(number + 1))
        if self._backups:
            self.path.replace(self._name_backup(1))
        else:
            self.path.unlink()

    def _name_backup(self, number: int) -> Path:
        return self.path.with_name(f"{self.path.name}.{number}")
