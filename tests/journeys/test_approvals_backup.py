"""What docs/serving.md says of the database's role and of backups."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from amplifier_hooks.approvals.models import Choice, Decider
from amplifier_hooks.approvals.stores.store import open_store
from tests.support.approval_worker import Life
from tests.support.postgres_server import PostgresServer


@pytest.fixture
def owned(postgres_server: PostgresServer) -> Iterator[list[str]]:
    """Two databases of a role without special rights."""
    names = ["owned_one", "owned_two"]
    with psycopg.connect(postgres_server.name_url("postgres"), autocommit=True) as connection:
        connection.execute("CREATE ROLE amplifier LOGIN")
        for name in names:
            connection.execute(f"CREATE DATABASE {name} OWNER amplifier TEMPLATE template0")
        yield [postgres_server.name_url(name).replace("postgres@", "amplifier@") for name in names]
        for name in names:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute("DROP ROLE amplifier")


async def test_a_dump_that_was_taken_while_everything_runs_is_restored_with_all_that_waits(
    owned: list[str], postgres_server: PostgresServer, tmp_path: Path
) -> None:
    """The role needs nothing but its own database."""
    before, after = owned
    dump = str(tmp_path / "amplifier.dump")
    programs = postgres_server.programs
    async with await open_store(before) as store:
        asked = [
            await store.approvals.request(Life(key, tmp_path).request()) for key in ("a", "b", "c")
        ]
        decision = Choice(option=0, nonce=asked[0].nonce, key="click")
        await store.approvals.decide(asked[0].id, decision, Decider("ann", "cli"))
        token, _ = await store.access.add_token("ann", ["read", "decide"])
        command = [str(programs / "pg_dump"), "--format=custom", f"--file={dump}", before]
        subprocess.run(command, check=True, timeout=100)
    command = [str(programs / "pg_restore"), "--no-owner", f"--dbname={after}", dump]
    subprocess.run(command, check=True, timeout=100)
    async with await open_store(after) as store:
        kept = [await store.approvals.get(one.id) for one in asked]
        assert [one.status for one in kept] == ["approved", "pending", "pending"]
        assert [one.request for one in kept] == [one.request for one in asked]
        identity = await store.access.identify_token(token)
        assert identity is not None
        assert identity.name == "ann"
        choice = Choice(option=1, nonce=asked[1].nonce, key="click")
        denied = await store.approvals.decide(asked[1].id, choice, Decider("bob", "cli"))
        assert denied.status == "denied"
        assert await store.claims.claim("session-a", "call-1", "d1", 60.0) is not None
