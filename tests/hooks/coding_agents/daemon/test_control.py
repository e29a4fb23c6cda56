"""Asking the resident process about itself."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from amplifier_hooks.coding_agents.daemon.control import read_status, stop_resident
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_resident import PlayedJudge


async def test_it_says_how_it_is_and_can_be_ended(
    folder: Path, serve: Serve, judge: PlayedJudge
) -> None:
    """After that there is none."""
    async with serve():
        assert (await asyncio.to_thread(read_status, folder))["sessions"] == 0
        assert await asyncio.to_thread(stop_resident, folder)
    assert judge.closed
    assert read_status(folder) is None


def test_without_one_there_is_nothing_to_end(folder: Path) -> None:
    """Neither without a socket nor with one that nobody listens at."""
    assert stop_resident(folder) is False
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(folder / "guest.sock"))
    assert stop_resident(folder) is False


def test_the_folder_must_be_private(folder: Path) -> None:
    """Somebody else's process is not believed."""
    folder.chmod(0o755)
    with pytest.raises(PermissionError):
        read_status(folder)
