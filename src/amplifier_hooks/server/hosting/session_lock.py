"""The lock of a hosted session: of several servers on one machine, one runs it."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class SessionLock:
    """Held while a session runs, and given back by the system when its process dies."""

    def __init__(self, folder: Path, session_id: str) -> None:
        self._path = folder / f"{session_id}.lock"
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take it; False if somebody has it."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._descriptor = descriptor
        return True

    def release(self, *, remove: bool = False) -> None:
        """Give it back; with `remove`, the session is over and needs none any more."""
        if self._descriptor is None:
            return
        if remove:
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)
        self._descriptor = None
