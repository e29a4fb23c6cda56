"""The databases that every store must work on."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import psycopg
import pytest

from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.postgres_server import PostgresServer
from tests.support.stores import ManualClock

TABLES = (
    "votes approvals rules tokens codes logins transcripts sessions records hook_figures "
    "hook_totals hook_days head_history heads"
)


@pytest.fixture(scope="module")
def shared_database(postgres_server: PostgresServer) -> Iterator[str]:
    """One database for many tests: to empty its tables is ten times faster than to make one."""
    url = postgres_server.create_database()
    yield url
    postgres_server.release_database(url)


# A fault in what both share is noticed on either; on SQLite, ten times faster.
LOOKS_FOR_FAULTS = os.environ.get("HYPOTHESIS_PROFILE") == "mutants"
DATABASES = ["sqlite"] if LOOKS_FOR_FAULTS else ["sqlite", "postgres"]


@pytest.fixture(params=DATABASES)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The address of an empty store."""
    if request.param == "sqlite":
        yield f"sqlite://{tmp_path}/store/store.db"
        return
    url = str(request.getfixturevalue("shared_database"))
    yield url
    with psycopg.connect(url) as connection:
        for table in TABLES.split():
            connection.execute(f"DELETE FROM {table}")


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(store_url: str, clock: ManualClock) -> AsyncIterator[Store]:
    """An open store whose clock the test moves."""
    async with await open_store(store_url, clock=clock) as opened:
        yield opened
