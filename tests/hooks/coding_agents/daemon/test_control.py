"""Questions about the resident process itself."""

from __future__ import annotations

import json
import os
from pathlib import Path

from amplifier_hooks.coding_agents.client.client import VERSION
from tests.hooks.coding_agents.daemon.conftest import Serve
from tests.support.guest_lines import ask
from tests.support.guest_resident import PlayedJudge


async def test_status_says_how_it_is(folder: Path, serve: Serve) -> None:
    """Version, process, sessions and what is open, also to a client of another version."""
    async with serve():
        await ask(folder)
        code, text, _ = await ask(folder, agent="-", event="status", version="0")
    facts = json.loads(text)
    assert (code, facts.pop("uptime") > 0) == (0, True)
    assert facts == {
        "version": VERSION,
        "pid": os.getpid(),
        "sessions": 1,
        "open": 0,
        "ending": False,
        "http": None,
        "alarms": [],
    }


async def test_stop_ends_it(folder: Path, serve: Serve, judge: PlayedJudge) -> None:
    """The socket is gone when the answer is there, and the sessions are suspended."""
    async with serve():
        assert (await ask(folder, agent="-", event="stop"))[0] == 0
        assert not (folder / "guest.sock").exists()
    assert judge.closed


async def test_nothing_else_can_be_asked(folder: Path, serve: Serve) -> None:
    """The answer names what was asked."""
    async with serve():
        code, _, error = await ask(folder, agent="-", event="dance")
    assert (code, b"'dance'" in error) == (2, True)
