"""What the tests of the adapters share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.adapters.stage import Stage


@pytest.fixture
def stage() -> Iterator[Stage]:
    """Hooks, people, a screen and a trail."""
    made = Stage()
    yield made
    made.close()
