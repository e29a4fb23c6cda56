"""Work beside the requests: sweeping, removing what is old, and starting again."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any, cast

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import ApprovalFilter, Choice, Decider, SessionEntry
from amplifier_hooks.approvals.stores.store import open_store
from amplifier_hooks.server import app
from amplifier_hooks.server.app import keep_running, retain_forever, sweep, sweep_forever
from tests.hooks.server.world import make_request
from tests.support.waiting import wait_until


async def test_overdue_approvals_lapsed_claims_and_silent_sessions_are_seen_to(tmp_path: Path):
    """Expired, unknown, lost: each by the store's clock."""
    now = [1000.0]
    async with await open_store(tmp_path / "store.db", clock=lambda: now[0]) as store:
        overdue = await store.approvals.request(make_request(key="a", timeout=5))
        claimed = await store.approvals.request(make_request(key="b", tool_call_id="call-2"))
        choice = Choice(option=1, nonce=claimed.nonce, key="k")
        await store.approvals.decide(claimed.id, choice, Decider("ann", "api"))
        await store.claims.claim("session-1", "call-2", "d" * 64, 5.0)
        await store.sessions.save(SessionEntry(id="s", user="bot"))
        await sweep(store)
        assert (await store.approvals.get(overdue.id)).status == "pending"
        assert (await store.sessions.get("s")).status == "running"
        now[0] += app.SESSION_SECONDS + 1
        await sweep(store)
        assert (await store.approvals.get(overdue.id)).status == "expired"
        assert (await store.approvals.get(claimed.id)).status == "unknown"
        assert (await store.sessions.get("s")).status == "lost"


async def test_a_store_that_does_not_answer_is_tried_again():
    """A restart of the database ends no sweeping."""
    tries = []

    class Failing:
        @property
        def approvals(self):
            return self

        async def expire_overdue(self):
            tries.append(1)
            raise StoreUnavailable("gone")

    sweeping = asyncio.create_task(sweep_forever(cast(Any, Failing()), seconds=0.001))
    await wait_until(lambda: len(tries) >= 2)
    sweeping.cancel()


async def test_what_ended_long_ago_is_removed_and_nothing_else(tmp_path: Path):
    """Whatever waits stays, however old it is."""
    now = [1000.0]
    async with await open_store(tmp_path / "store.db", clock=lambda: now[0]) as store:
        old = await store.approvals.request(make_request(key="a"))
        await store.approvals.withdraw(old.id)
        await store.sessions.save(SessionEntry(id="over", user="bot", status="ended"))
        now[0] += 40 * 86_400
        await store.sessions.save(SessionEntry(id="new", user="bot", status="ended"))
        waiting = await store.approvals.request(make_request(key="b", tool_call_id="call-2"))
        retaining = asyncio.create_task(retain_forever(store, 30, seconds=0.01))
        for _ in range(500):
            sessions, _ = await store.sessions.list()
            approvals, _ = await store.approvals.list(ApprovalFilter())
            if len(sessions) == len(approvals) == 1:
                break
            await asyncio.sleep(0.01)
        retaining.cancel()
        assert [one.id for one in sessions] == ["new"]
        assert [one.id for one in approvals] == [waiting.id]


async def test_work_that_fails_is_logged_and_started_again(caplog: pytest.LogCaptureFixture):
    """A server that no longer tells anybody anything would look healthy."""
    tries = []

    async def work() -> None:
        tries.append(1)
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        running = asyncio.create_task(keep_running(work, pause=0.001))
        await wait_until(lambda: len(tries) >= 2)
        running.cancel()
    assert "broken" in caplog.text
