"""Tells a client that waits for a person."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from amplifier_hooks.guards.mcp.frames import Frame, answer, write_frame
from amplifier_hooks.mcp.gateway import progress
from amplifier_hooks.mcp.gateway.pending import Pending
from amplifier_hooks.mcp.gateway.progress import Progress


@pytest.fixture(autouse=True)
def fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST", 0.001)
    monkeypatch.setattr(progress, "EVERY", 0.001)


def make(**meta: Any) -> Pending:
    params = {"_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return Pending(write_frame(message), "judged")


async def test_a_client_that_waits_for_a_person_is_told_again_and_again() -> None:
    """With progress that grows, until the server has the call, and again once it has answered."""
    told: asyncio.Queue[Frame] = asyncio.Queue()
    pending = make(progressToken="t")
    tell = Progress(pending, "mcp__s__a", told.put_nowait)
    tell.start()
    first, second = [(await told.get()).params for _ in range(2)]
    assert first["progressToken"] == "t"
    assert first["progress"] < second["progress"]
    assert "mcp__s__a" in first["message"]
    pending.is_forwarded = True
    pending.response = asyncio.get_running_loop().create_future()
    while not told.empty():
        told.get_nowait()
    await asyncio.sleep(0.02)
    assert told.empty()
    pending.settle(answer(1, {}))
    await asyncio.wait_for(told.get(), 30)
    tell.stop()


@pytest.mark.parametrize("meta", [{}, {"progressToken": None}, {"progressToken": []}])
async def test_a_client_that_did_not_ask_is_told_nothing(meta: dict[str, Any]) -> None:
    """It would not know what is meant."""
    told: list[Frame] = []
    tell = Progress(make(**meta), "a", told.append)
    tell.start()
    await asyncio.sleep(0.01)
    tell.stop()
    assert told == []
