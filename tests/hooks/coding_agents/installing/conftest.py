"""An empty home for every test of installations."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.agent_homes import empty_home


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of a person who has no agent yet."""
    with empty_home(monkeypatch) as path:
        yield path
