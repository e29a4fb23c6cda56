"""Deadlines hold in PostgreSQL also for who has to wait for a row."""

from __future__ import annotations

import asyncio
from pathlib import Path

import psycopg
import pytest

from amplifier_hooks.approvals.errors import Conflict
from amplifier_hooks.approvals.models import Choice, Decider
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.approval_worker import Life
from tests.support.waiting import wait_until

BLOCKED = "SELECT count(*) FROM pg_locks WHERE NOT granted"
OVER = "SELECT unix_now() > deadline FROM approvals"


@pytest.fixture
def holding(postgres_url: str):
    """Somebody else at the database."""
    with psycopg.connect(postgres_url) as connection:
        yield connection


async def test_a_decision_that_waited_for_its_row_until_after_the_deadline_does_not_count(
    postgres_url: str, holding: psycopg.Connection
) -> None:
    """It was sent in time, but the row it would change has changed since, and time is over."""
    request = Life("k", Path("none")).request().model_copy(update={"timeout": 1.5})
    async with await open_store(postgres_url) as store:
        asked = await store.approvals.request(request)
        holding.execute("UPDATE approvals SET updated = updated + 0.001")
        choice = Choice(option=0, nonce=asked.nonce, key="click")
        deciding = asyncio.create_task(
            store.approvals.decide(asked.id, choice, Decider("ann", "cli"))
        )

        async def is_blocked_past_the_deadline() -> bool:
            blocked = holding.execute(BLOCKED).fetchone()
            over = holding.execute(OVER).fetchone()
            return bool(blocked and over and blocked[0] and over[0])

        await wait_until(is_blocked_past_the_deadline)
        holding.commit()
        with pytest.raises(Conflict, match="expired"):
            await deciding
        assert (await store.approvals.get(asked.id)).status == "expired"


async def test_a_process_that_is_stopped_in_the_middle_of_a_transaction_stops_nobody_for_long(
    postgres_url: str, holding: psycopg.Connection
) -> None:
    """The database ends what is idle within a transaction, and with it its locks."""
    async with await open_store(postgres_url) as store:
        asked = await store.approvals.request(Life("k", Path("none")).request())
        holding.execute("SET idle_in_transaction_session_timeout = '300ms'")
        holding.execute("UPDATE approvals SET updated = updated + 0.001")
        choice = Choice(option=0, nonce=asked.nonce, key="click")
        decided = await store.approvals.decide(asked.id, choice, Decider("ann", "cli"))
        assert decided.status == "approved"
    with pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout):
        holding.execute("SELECT 1")
