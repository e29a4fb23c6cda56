"""What changed lately, for those who heard only that something did."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_hooks.approvals.stores.engine import Engine, Transaction


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
