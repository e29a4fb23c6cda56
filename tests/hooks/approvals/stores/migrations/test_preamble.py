"""What a database needs before the first step."""

from __future__ import annotations

from amplifier_hooks.approvals.stores.migrations import POSTGRES, SQLITE, migrate
from amplifier_hooks.approvals.stores.postgres import PostgresEngine


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
