"""Migrations: old data comes along, once, and a newer database is left alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.models import SessionEntry
from amplifier_hooks.approvals.stores.engine import Transaction
from amplifier_hooks.approvals.stores.migrations import (
    POSTGRES,
    SQLITE,
    STEPS,
    Step,
    migrate,
    read_version,
)
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ManualClock, decide, make_request

OLD_APPROVAL = """
INSERT INTO approvals (
    id, request_key, nonce, status, session_id, tool_call_id, hook, event, tool_name, machine,
    requester, digest, default_answer, persons, request, created, deadline, updated
) VALUES (
    :id, :id, 'nonce', 'pending', 's', 'c', 'guard', 'tool:pre', 'Write', 'm', 'r', 'd', 'deny', 1,
    :request, 1799999990.0, 1800000050.0, 1799999990.0
)
"""


def fill_version_1(transaction: Transaction) -> None:
    """What the first version kept: a question, a token, a code."""
    request = make_request(session_id="s", digest="d").model_dump(mode="json")
    transaction.run(OLD_APPROVAL, id="old", request=json.dumps(request))
    transaction.run(
        "INSERT INTO tokens (id, digest, name, scopes, created) "
        "VALUES ('t', 'digest', 'ann', '[\"read\"]', 1.0)"
    )
    transaction.run(
        "INSERT INTO codes (digest, name, scopes, expires) VALUES ('x', 'ann', '[]', 1.0)"
    )


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    return str(request.getfixturevalue("postgres_url"))


async def open_engine(url: str, clock: ManualClock) -> tuple[Any, tuple[str, ...]]:
    if url.startswith("postgresql"):
        from amplifier_hooks.approvals.stores.postgres import PostgresEngine

        return await PostgresEngine.open(url, clock=clock), POSTGRES
    return await SqliteEngine.open(Path(url), clock), SQLITE


async def test_a_store_of_version_1_is_upgraded_with_its_data(url: str, clock: ManualClock) -> None:
    """What waited before the upgrade is decided after it, and what is new works."""
    engine, preamble = await open_engine(url, clock)
    assert await migrate(engine, preamble, STEPS[:1]) == 1
    await engine.write(fill_version_1)
    await engine.close()
    async with await open_store(url, clock=clock) as store:
        assert await store.engine.read(read_version) == STEPS[-1].number
        old = await store.approvals.get("old")
        assert (old.status, old.request.session_id, old.seconds_left) == ("pending", "s", 50.0)
        assert (await decide(store, old)).status == "approved"
        assert [one.name for one in await store.access.list_tokens()] == ["ann"]
        await store.sessions.save(SessionEntry(id="s"))


async def test_figures_of_version_3_are_in_the_sums_of_all_time(
    url: str, clock: ManualClock
) -> None:
    """How long those calls took is not known as finely, and not told."""
    engine, preamble = await open_engine(url, clock)
    await migrate(engine, preamble, STEPS[:3])
    insert = "INSERT INTO hook_figures VALUES (:hour, 'guard', 'tool:pre', 'deny', 2, 9.0, 5.0)"
    await engine.write(
        lambda transaction: [transaction.run(insert, hour=hour) for hour in (0.0, 3600.0)]
    )
    await engine.close()
    async with await open_store(url, clock=clock) as store:
        ((total,), rest) = await store.statistics.sum_up()
        assert (total.hook, total.count, total.slowest, total.timed) == ("guard", 4, 5.0, 0)
        assert (total.milliseconds, rest.count) == (0.0, 0)
        assert [one.milliseconds for one in await store.statistics.read(0)] == [9.0, 9.0]


async def test_many_who_open_a_new_store_at_once_migrate_it_once(
    url: str, clock: ManualClock
) -> None:
    """Each step is run by one of them."""
    stores = await asyncio.gather(*(open_store(url, clock=clock) for _ in range(4)))
    steps = await stores[0].engine.read(
        lambda transaction: transaction.run("SELECT number, name FROM schema_steps ORDER BY number")
    )
    assert [(row["number"], row["name"]) for row in steps] == [
        (step.number, step.name) for step in STEPS
    ]
    for store in stores:
        await store.close()


async def test_a_store_of_a_newer_version_is_left_alone(tmp_path: Path, clock: ManualClock) -> None:
    """The message says what to do."""
    engine = await SqliteEngine.open(tmp_path / "s.db", clock)
    newer = Step(99, "something new", ("CREATE TABLE novelty (n BIGINT)",))
    await migrate(engine, SQLITE, (*STEPS, newer))
    await engine.close()
    with pytest.raises(StoreUnavailable, match=r"it has schema 99.*upgrade this installation"):
        await open_store(tmp_path / "s.db", clock=clock)


async def test_a_step_that_fails_leaves_the_store_as_it_was(
    tmp_path: Path, clock: ManualClock
) -> None:
    """All steps hold together."""
    engine = await SqliteEngine.open(tmp_path / "s.db", clock)
    await migrate(engine, SQLITE, STEPS[:1])
    broken = Step(3, "broken", ("CREATE TABLE half (n BIGINT)", "CREATE NONSENSE"))
    with pytest.raises(StoreUnavailable, match="syntax error"):
        await migrate(engine, SQLITE, (*STEPS, broken))
    assert await engine.read(read_version) == 1
    tables = await engine.read(lambda t: t.run("SELECT name FROM sqlite_master"))
    assert not {"half", "sessions"} & {row["name"] for row in tables}
    assert await migrate(engine, SQLITE) == STEPS[-1].number
    await engine.close()
