"""An empty home for every test of clients' settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_homes import empty_home


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of a person who has no client yet; the current folder."""
    with empty_home(monkeypatch) as path:
        yield path
