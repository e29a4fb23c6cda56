"""Folders for clients: one with a warm resident process for all, and empty ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.guests import call_client, make_guest_folder, write_played_launch


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty guests' folder."""
    with make_guest_folder() as place:
        yield place


@pytest.fixture(scope="module")
def warm() -> Iterator[Path]:
    """A guests' folder whose resident process runs."""
    with make_guest_folder() as place:
        write_played_launch(place)
        assert call_client(place).returncode == 0
        yield place
