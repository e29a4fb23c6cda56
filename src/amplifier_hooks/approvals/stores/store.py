"""A store: everything that is kept in one database, and how to open it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Self

from amplifier_hooks.approvals.stores.access import Access
from amplifier_hooks.approvals.stores.approvals.approvals import Approvals
from amplifier_hooks.approvals.stores.approvals.claims import Claims
from amplifier_hooks.approvals.stores.checks.address import (
    VARIABLE,
    find_store,
    names_postgres,
    read_path,
)
from amplifier_hooks.approvals.stores.embedded_link import EmbeddedLink
from amplifier_hooks.approvals.stores.engine import Change, Engine
from amplifier_hooks.approvals.stores.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.heads import Heads
from amplifier_hooks.approvals.stores.link import AgentLink
from amplifier_hooks.approvals.stores.migrations.migration import migrate
from amplifier_hooks.approvals.stores.migrations.preamble import POSTGRES, SQLITE
from amplifier_hooks.approvals.stores.records import Records
from amplifier_hooks.approvals.stores.rules import Rules
from amplifier_hooks.approvals.stores.sessions import Sessions
from amplifier_hooks.approvals.stores.sqlite.clock import Clock
from amplifier_hooks.approvals.stores.sqlite.engine import SqliteEngine
from amplifier_hooks.approvals.stores.statistics import Statistics
from amplifier_hooks.modules.installation import name_install_command

__all__ = ["VARIABLE", "Store", "find_store", "open_store", "read_path"]


class Store:
    """An open database with all that is in it; `async with` closes it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.approvals = Approvals(engine)
        self.claims = Claims(engine)
        self.rules = Rules(engine)
        self.sessions = Sessions(engine)
        self.records = Records(engine)
        self.statistics = Statistics(engine)
        self.heads = Heads(engine)
        self.access = Access(engine)

    def as_link(self, *, owned: bool = False) -> AgentLink:
        """What an agent in this process needs; an owned store is closed with its link."""
        return EmbeddedLink(
            self.approvals,
            self.claims,
            self.rules,
            self.sessions,
            self.records,
            self.close if owned else None,
        )

    def listen(self) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Hear of changes from here on."""
        return self.engine.listen()

    async def close(self) -> None:
        """Tell those who wait, finish what is under way, and close the database."""
        await self.approvals.close()
        await self.engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()


async def open_store(url: str | Path | None = None, *, clock: Clock | None = None) -> Store:
    """Open a store: a path, `sqlite:///path` or `postgresql://…`; it is made or upgraded if needed.

    Without one: what AMPLIFIER_STORE says, else the person's own. `clock` is for tests.
    """
    chosen = find_store() if url is None else url
    engine, preamble = await _open_engine(chosen, clock)
    try:
        await migrate(engine, preamble)
    except BaseException:
        await engine.close()
        raise
    return Store(engine)


async def _open_engine(url: str | Path, clock: Clock | None) -> tuple[Engine, tuple[str, ...]]:
    if names_postgres(url):
        return await _open_postgres(url, clock), POSTGRES
    return await SqliteEngine.open(read_path(url), clock), SQLITE


async def _open_postgres(url: str, clock: Clock | None) -> Engine:
    try:
        from amplifier_hooks.approvals.stores.postgres.engine import PostgresEngine
    except ImportError as error:
        raise StoreUnavailable(
            f"A store on PostgreSQL needs psycopg: {name_install_command('postgres')}"
        ) from error
    return await PostgresEngine.open(url, clock=clock)
