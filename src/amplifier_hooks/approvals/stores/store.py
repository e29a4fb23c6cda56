"""A store: everything that is kept in one database, and how to open it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.link import AgentLink, Outcome
from amplifier_hooks.approvals.models import (
    Approval,
    ApprovalRequest,
    Claim,
    SessionEntry,
    SessionRecord,
    StandingRule,
)
from amplifier_hooks.approvals.stores.access import Access
from amplifier_hooks.approvals.stores.address import (
    VARIABLE,
    find_store,
    names_postgres,
    read_path,
)
from amplifier_hooks.approvals.stores.approvals import Approvals
from amplifier_hooks.approvals.stores.claims import Claims
from amplifier_hooks.approvals.stores.engine import Change, Engine, Transaction
from amplifier_hooks.approvals.stores.heads import Heads
from amplifier_hooks.approvals.stores.migrations import POSTGRES, SQLITE, migrate
from amplifier_hooks.approvals.stores.rules import Rules
from amplifier_hooks.approvals.stores.sessions import Records, Sessions
from amplifier_hooks.approvals.stores.sqlite import SqliteEngine
from amplifier_hooks.approvals.stores.sqlite_connection import Clock
from amplifier_hooks.approvals.stores.statistics import Statistics
from amplifier_hooks.modules.installation import name_install_command


class EmbeddedLink:
    """An AgentLink whose other end is a store in this process."""

    def __init__(
        self,
        approvals: Approvals,
        claims: Claims,
        rules: Rules,
        sessions: Sessions,
        records: Records,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._approvals = approvals
        self._claims = claims
        self._rules = rules
        self._sessions = sessions
        self._records = records
        self._close = close

    async def request(self, request: ApprovalRequest) -> Approval:
        """Put a question, durably; with a key that is known, the approval that is there."""
        return await self._approvals.request(request)

    async def wait(self, approval_id: str, seconds: float) -> Approval:
        """The approval as soon as it is no longer pending, or as it is after that time."""
        return await self._approvals.wait(approval_id, seconds)

    async def withdraw(
        self, approval_id: str, *, by: str = "", option: str = "", reason: str = ""
    ) -> Approval:
        """Stop asking: expired if its time is over, else cancelled; decided ones stay so."""
        return await self._approvals.withdraw(approval_id, by=by, option=option, reason=reason)

    async def claim(
        self, session_id: str, tool_call_id: str, digest: str, lease: float
    ) -> Claim | None:
        """The right to run a call, once; None if nobody was asked about it here."""
        return await self._claims.claim(session_id, tool_call_id, digest, lease)

    async def renew(self, claim: Claim, lease: float) -> Claim:
        """Keep a claim while the call runs; Conflict if it was given up as unknown."""
        return await self._claims.renew(claim, lease)

    async def finish(self, claim: Claim, outcome: Outcome) -> None:
        """Record how the call ended; Conflict if the claim was given up as unknown."""
        await self._claims.finish(claim, outcome)

    async def find_rule(self, request: ApprovalRequest) -> StandingRule | None:
        """The standing rule that allows this, whose use is counted with this call."""
        return await self._rules.find_rule(request)

    async def save_session(
        self, entry: SessionEntry, transcript: Sequence[Mapping[str, Any]] | None = None
    ) -> None:
        """Put a session into the index, or renew it there."""
        await self._sessions.save(entry, transcript)

    async def publish(self, session_id: str, records: Sequence[SessionRecord]) -> None:
        """Add records of a session's trail; those whose number is known are passed over."""
        await self._records.publish(session_id, records)

    async def close(self) -> None:
        """Close the store, if the link owns it."""
        if self._close is not None:
            await self._close()


@dataclass(frozen=True, slots=True)
class Recent:
    """The approvals and sessions that changed, each with its time, and when they were read."""

    now: float
    approvals: tuple[tuple[str, float], ...]
    sessions: tuple[tuple[str, float], ...]


async def list_recent(engine: Engine, since: float) -> Recent:
    """Everything that was updated at that time or later, the oldest first."""

    def read(transaction: Transaction) -> Recent:
        now = transaction.run("SELECT unix_now() AS now")[0]["now"]
        return Recent(now, _list(transaction, "approvals"), _list(transaction, "sessions"))

    def _list(transaction: Transaction, table: str) -> tuple[tuple[str, float], ...]:
        rows = transaction.run(
            f"SELECT id, updated FROM {table} WHERE updated >= :since ORDER BY updated, id",
            since=since,
        )
        return tuple((row["id"], row["updated"]) for row in rows)

    return await engine.read(read)


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
        from amplifier_hooks.approvals.stores.postgres import PostgresEngine
    except ImportError as error:
        raise StoreUnavailable(
            f"A store on PostgreSQL needs psycopg: {name_install_command('postgres')}"
        ) from error
    return await PostgresEngine.open(url, clock=clock)
