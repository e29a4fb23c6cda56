"""Whose approvals those of a call are."""

from __future__ import annotations

from pathlib import Path

from amplifier_hooks.approvals.stores.approval_rows import list_requesters
from amplifier_hooks.approvals.stores.store import open_store
from tests.hooks.server.world import make_request


async def test_everybody_who_asked_about_a_call_or_in_a_session_is_named(tmp_path: Path):
    """And nobody of another session."""
    async with await open_store(tmp_path / "store.db") as store:
        for key, requester, call in (("a", "bot", "c1"), ("b", "other", "c2"), ("c", "bot", "c1")):
            await store.approvals.request(
                make_request(key=key, requester=requester, tool_call_id=call)
            )
        assert await list_requesters(store.engine, "session-1", "c1") == {"bot"}
        assert await list_requesters(store.engine, "session-1") == {"bot", "other"}
        assert await list_requesters(store.engine, "session-2") == frozenset()
