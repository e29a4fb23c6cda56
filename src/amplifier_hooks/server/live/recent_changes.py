"""What to tell when the store said only that something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amplifier_hooks.approvals.errors import NotFound
from amplifier_hooks.approvals.models import Approval, SessionEntry
from amplifier_hooks.approvals.stores.store import list_recent

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store

# A transaction that began earlier may become visible later than one that began after it.
_OVERLAP = 1.0
_START = -1.0


class RecentChanges:
    """Remembers until when changes were read, and which of the last ones were told already."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read_until = _START
        self._told: dict[str, float] = {}

    def note(self, value: Approval | SessionEntry) -> None:
        """That this state of it was told."""
        self._told[value.id] = value.updated

    async def read(self) -> list[tuple[str, Any]]:
        """What changed since the last time, with its topic; the first time, nothing."""
        if self._read_until == _START:
            self._read_until = (await list_recent(self._store.engine, float("1e300"))).now
            return []
        since = self._read_until - _OVERLAP
        recent = await list_recent(self._store.engine, since)
        self._told = {id: at for id, at in self._told.items() if at >= since}
        found: list[tuple[str, Any]] = []
        for topic, changed in (("approval", recent.approvals), ("session", recent.sessions)):
            for id, updated in changed:
                if self._told.get(id) != updated and (value := await self._get(topic, id)):
                    self.note(value)
                    found.append((topic, value))
        self._read_until = recent.now
        return found

    async def _get(self, topic: str, id: str) -> Approval | SessionEntry | None:
        try:
            if topic == "approval":
                return await self._store.approvals.get(id)
            return await self._store.sessions.get(id)
        except NotFound:
            return None
