"""A store in a folder of its own, and the server in front of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.hooks.server.world import World, run_app, run_server


@pytest.fixture
async def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Store]:
    """An empty store."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    async with await open_store(tmp_path / "store" / "store.db") as store:
        yield store


@pytest.fixture
async def world(store: Store) -> AsyncIterator[World]:
    """The app without sockets."""
    async with run_app(store) as world:
        yield world


@pytest.fixture
async def served(store: Store) -> AsyncIterator[World]:
    """The app behind a real server."""
    async with run_server(store) as world:
        yield world
