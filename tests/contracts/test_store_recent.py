"""What every database tells of late changes, and of who asked."""

from __future__ import annotations

from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.approval_rows import list_requesters
from amplifier_hooks.approvals.stores.store import Store, list_recent
from tests.support.stores import ManualClock, make_request


async def test_late_changes_and_their_owners_are_found(store: Store, clock: ManualClock):
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
    assert await list_requesters(store.engine, "s") == {"bot", "other"}
    assert await list_requesters(store.engine, "s", "call-2") == {"other"}
