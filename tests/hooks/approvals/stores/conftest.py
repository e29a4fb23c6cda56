"""A store in a file of the test, with a clock that the test moves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amplifier_hooks.approvals.stores.store import Store, open_store
from tests.support.stores import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def store(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Store]:
    async with await open_store(tmp_path / "store.db", clock=clock) as opened:
        yield opened
