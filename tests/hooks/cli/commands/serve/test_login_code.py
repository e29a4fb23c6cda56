"""amplifier login-code."""

from __future__ import annotations

import asyncio
from pathlib import Path

from amplifier_hooks.approvals.stores.store import open_store
from tests.hooks.cli.program import invoke


def test_a_code_logs_one_browser_in(home: Path):
    """For who asked, or for somebody else."""
    store = str(home / "other.db")
    made = invoke("login-code", "--name", "ann", "--scope", "read", "--store", store)
    assert made.code == 0
    assert "For ann, once, within 10 minutes." in made.stderr

    async def exchange():
        async with await open_store(store) as opened:
            return await opened.access.exchange_code(made.stdout.strip())

    _, login = asyncio.run(exchange())
    assert (login.identity.name, login.identity.scopes) == ("ann", {"read"})
    assert asyncio.run(exchange()) is None


def test_a_code_is_for_people(home: Path):
    """Agents have tokens."""
    refused = invoke("login-code", "--scope", "agent")
    assert refused.code == 1
    assert "token" in refused.stderr
    assert invoke("login-code", "--minutes", "0").code == 2
