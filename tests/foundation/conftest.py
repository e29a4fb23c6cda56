"""Fixtures of the foundation."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.harness import Harness


@pytest.fixture
def harness(tmp_path: Path) -> Harness:
    """A session without an agent that works in a folder of its own."""
    return Harness(tmp_path)
