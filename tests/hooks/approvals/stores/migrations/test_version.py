"""The version of a store, for those who cannot change it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.migrations import STEPS
from amplifier_hooks.approvals.stores.sqlite_connection import ReadOnlySqlite
from amplifier_hooks.approvals.stores.store import open_store

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
