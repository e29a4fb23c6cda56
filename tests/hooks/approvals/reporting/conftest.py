"""A store for each test that reports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from amplifier_hooks.approvals.stores.store import Store
from tests.support.links import make_store


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Open while the test runs."""
    async with make_store(tmp_path) as opened:
        yield opened
