"""What every database tells of late changes."""

from __future__ import annotations

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.store import Store, list_recent
from tests.support.stores import ManualClock, make_request


async def test_late_changes_are_found(store: Store, clock: ManualClock):
    """A server reads them when it hears only that something changed."""
    await store.approvals.request(make_request(session_id="s", requester="bot"))
    clock.advance(10)
    late = await store.approvals.request(
        make_request(session_id="s", requester="other", tool_call_id="call-2")
    )
    await store.sessions.save(SessionEntry(id="s"))
    recent = await list_recent(store.engine, late.updated)
    assert [id for id, _ in recent.approvals] == [late.id]
    assert [id for id, _ in recent.sessions] == ["s"]
