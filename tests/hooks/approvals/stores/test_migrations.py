"""Bringing a database to the newest version."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import sqlite3
from contextlib import closing
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
from amplifier_hooks.approvals.stores.postgres import PostgresEngine
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.sqlite_connection import ReadOnlySqlite
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.stores import ManualClock, decide, make_request

# A released step never changes: databases that have run it would differ from new ones.
RELEASED = {
    1: "6c2ea654e3e22532",
    2: "a05f07f09fa34bcc",
    3: "c1086590e982789f",
    4: "177f589d6bd1ed06",
    5: "03900875cfb38172",
    6: "61994dcd1fd3aa71",
    7: "fc3ecd311e6c46ed",
    8: "2951517cc69a02dd",
}


def digest(statements: tuple[str, ...]) -> str:
    return hashlib.sha256("\n".join(statements).encode()).hexdigest()[:16]


def test_steps_are_numbered_from_1_without_a_gap() -> None:
    """The number of the last one is the version."""
    assert [step.number for step in STEPS] == list(range(1, len(STEPS) + 1))


def test_a_step_is_never_changed() -> None:
    """What changes the tables is a further step."""
    assert {step.number: digest(step.statements) for step in STEPS} == RELEASED


def test_columns_have_types_that_both_databases_know() -> None:
    """TEXT, BIGINT and DOUBLE PRECISION, and nothing that only one of them has."""
    for step in STEPS:
        for statement in step.statements:
            assert not re.search(
                r"\b(INTEGER|SERIAL|AUTOINCREMENT|JSONB?|BLOB|BYTEA|TIMESTAMP|BOOLEAN|STRICT)\b",
                statement,
            )


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


async def test_figures_of_version_7_are_in_the_sums_of_days(url: str, clock: ManualClock) -> None:
    """Those of every hour, and with them those that come later."""
    engine, preamble = await open_engine(url, clock)
    await migrate(engine, preamble, STEPS[:7])
    insert = (
        "INSERT INTO hook_figures (hour, hook, event, action, calls, milliseconds, slowest, asked) "
        "VALUES (:hour, 'guard', 'tool:pre', 'deny', 2, 9.0, :slowest, 1)"
    )
    hours = [(day * 24 + hour) * 3600.0 for day in (10, 11) for hour in (0, 5, 23)]
    await engine.write(
        lambda transaction: [transaction.run(insert, hour=hour, slowest=hour) for hour in hours]
    )
    await engine.close()
    async with await open_store(url, clock=clock) as store:
        days = (await store.statistics.read_buckets(0, hours=24)).figures
        assert [one.hour for one in days] == [hours[0], hours[3]]
        assert [(one.count, one.asked, one.milliseconds) for one in days] == [(6, 3, 27.0)] * 2
        assert [one.slowest for one in days] == [hours[2], hours[5]]


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


async def test_postgresql_gets_a_clock_of_its_own(postgres_url: str) -> None:
    """It is the server's, it is the same function for everybody, and it goes on."""
    engine = await PostgresEngine.open(postgres_url)
    await migrate(engine, POSTGRES)
    await migrate(engine, POSTGRES)
    statement = "SELECT unix_now() AS a, extract(epoch FROM clock_timestamp()) AS b"
    row = (await engine.read(lambda transaction: transaction.run(statement)))[0]
    assert 0 <= row["b"] - row["a"] < 60
    await engine.close()


def test_sqlite_needs_nothing() -> None:
    """Who writes is alone, and the engine brings the clock."""
    assert SQLITE == ()


NEWEST = STEPS[-1].number


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        (
            f"DELETE FROM schema_steps WHERE number = {NEWEST}",
            "approvals list` upgrades",
        ),
        (f"INSERT INTO schema_steps VALUES ({NEWEST + 1}, 'x', 0)", "made by a newer version"),
    ],
)
async def test_a_store_of_another_version_is_refused(
    tmp_path: Path, statement: str, told: str
) -> None:
    """Its rows may mean something else; the message says what to do."""
    async with await open_store(tmp_path / "store.db"):
        pass
    with closing(sqlite3.connect(tmp_path / "store.db")) as own, own:
        own.execute(statement)
    with pytest.raises(StoreUnavailable, match=told):
        await ReadOnlySqlite(tmp_path / "store.db").read(lambda transaction: None)
