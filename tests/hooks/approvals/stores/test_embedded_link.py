"""The link over a store in the agent's own process."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord, StandingWish
from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import ask, decide, make_request, read_call


async def test_an_agent_asks_runs_and_reports_through_it(store: Store) -> None:
    """All that it needs, on the same rows."""
    link = store.as_link()
    request = make_request()
    approval = await link.request(request)
    waiting = asyncio.create_task(link.wait(approval.id, 600))
    await decide(store, approval, standing=StandingWish(scope="exact"))
    assert (await waiting).status == "approved"
    claim = await link.claim(**read_call(approval), lease=30.0)
    assert claim is not None
    await link.finish(await link.renew(claim, 30.0), "executed")
    assert (await store.approvals.get(approval.id)).status == "executed"
    rule = await link.find_rule(make_request())
    assert rule is not None
    assert rule.uses == 1
    await link.save_session(SessionEntry(id="s"), [{"role": "user"}])
    await link.publish("s", [SessionRecord(number=1, time=1.0, type="user_message")])
    assert (await store.sessions.get("s")).status == "running"
    assert len(await store.records.read("s")) == 1
    other = await ask(store)
    assert (await link.withdraw(other.id, by="ann", option="Deny")).decided_by == "ann"


async def test_only_an_owned_store_is_closed_with_its_link(tmp_path: Path) -> None:
    """A server goes on when one of its sessions ends."""
    store = await open_store(tmp_path / "s.db")
    await store.as_link().close()
    assert await store.rules.list() == []
    await store.as_link(owned=True).close()
    with pytest.raises(StoreUnavailable):
        await store.rules.list()
