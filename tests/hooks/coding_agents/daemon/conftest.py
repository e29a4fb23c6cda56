"""A resident process within the test's own, and a folder for it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest

from amplifier_hooks.coding_agents.daemon.server import Daemon
from tests.support.guest_resident import PlayedJudge
from tests.support.guests import make_guest_folder

Serve = Callable[..., AbstractAsyncContextManager[Daemon]]


@pytest.fixture
def folder() -> Iterator[Path]:
    """An empty guests' folder."""
    with make_guest_folder() as place:
        yield place


@pytest.fixture
def judge() -> PlayedJudge:
    """A judge that does what events say."""
    return PlayedJudge()


@pytest.fixture
def serve(folder: Path, judge: PlayedJudge) -> Serve:
    """Serve the folder in this process, until the block ends."""

    @contextlib.asynccontextmanager
    async def run(**options: Any) -> AsyncIterator[Daemon]:
        resident = Daemon(folder, judge, **options)
        ready = asyncio.Event()
        task = asyncio.create_task(resident.run(ready.set))
        try:
            await asyncio.wait_for(ready.wait(), 50)
            yield resident
        finally:
            resident.end("the test is over")
            await asyncio.wait_for(task, 50)

    return run
