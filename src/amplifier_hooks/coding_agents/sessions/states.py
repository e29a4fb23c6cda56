"""What is kept of the sessions of other agents, so that another process can go on with them."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_hooks.agent.session.saved_sessions import SavedSession, SessionInfo, SessionStore
from amplifier_hooks.machine.user import find_data_home

KEPT_DAYS = 30


class GuestStates:
    """Reads and writes the states, one file each."""

    def __init__(self, root: Path | None = None) -> None:
        folder = root or find_data_home() / "amplifier" / "guests" / "sessions"
        self._store = SessionStore(folder)

    async def load(self, session_id: str) -> SavedSession | None:
        """How a session stood, and where; None if it is new.

        SessionStateError if what was kept of it cannot be read: where it worked decides what
        governs it, so nothing else is taken instead.
        """
        return await asyncio.to_thread(self._load, session_id)

    def _load(self, session_id: str) -> SavedSession | None:
        return None if self._store.get(session_id) is None else self._store.load(session_id)

    async def save(self, session_id: str, state: Mapping[str, Any], folder: str) -> None:
        """Write how a session stands."""
        info = SessionInfo(session_id, working_dir=folder)
        await asyncio.to_thread(self._store.save, info, state)

    async def remove_old(self, days: float = KEPT_DAYS) -> None:
        """Forget sessions that nobody has gone on with for a long time."""
        await asyncio.to_thread(self._remove_before, time.time() - days * 86_400)

    def _remove_before(self, oldest: float) -> None:
        for path in list(self._store.root.glob("*")):
            with contextlib.suppress(OSError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
