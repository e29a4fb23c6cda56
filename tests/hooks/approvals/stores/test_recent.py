"""What changed lately."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.store import list_recent, open_store
from tests.hooks.server.world import make_request


async def test_what_changed_at_that_time_or_later_is_listed_the_oldest_first(tmp_path: Path):
    """By the store's clock."""
    now = [1000.0]
    async with await open_store(tmp_path / "store.db", clock=lambda: now[0]) as store:
        early = await store.approvals.request(make_request(key="a"))
        now[0] = 1010.0
        late = await store.approvals.request(make_request(key="b"))
        await store.sessions.save(SessionEntry(id="s"))
        everything = await list_recent(store.engine, 0.0)
        last = await list_recent(store.engine, 1010.0)
    assert [id for id, _ in everything.approvals] == [early.id, late.id]
    assert last.approvals == ((late.id, late.updated),)
    assert [id for id, _ in last.sessions] == ["s"]
    assert last.now >= 1010.0
