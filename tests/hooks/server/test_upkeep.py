"""Work that must go on for as long as the server runs."""

from __future__ import annotations

import asyncio
import logging

import pytest

from amplifier_hooks.server.upkeep import keep_running
from tests.support.waiting import wait_until


async def test_work_that_fails_is_logged_and_started_again(caplog: pytest.LogCaptureFixture):
    """A server that no longer tells anybody anything would look healthy."""
    tries = []

    async def work() -> None:
        tries.append(1)
        raise RuntimeError("broken")

    with caplog.at_level(logging.ERROR):
        running = asyncio.create_task(keep_running(work, pause=0.001))
        await wait_until(lambda: len(tries) >= 2)
        running.cancel()
    assert "broken" in caplog.text
