"""Approvals as server-sent events."""

from __future__ import annotations

import asyncio
import json

from tests.hooks.server.world import World


async def read_events(lines, count: int) -> list[dict]:
    found = []
    async for line in lines:
        if line.startswith("data: "):
            found.append(json.loads(line.removeprefix("data: ")))
        if len(found) == count:
            break
    return found


async def test_a_stream_begins_with_what_is_pending_and_ends_with_the_server(served: World):
    """First all pending, then each one that changes."""
    asked = await served.ask()
    person = await served.person()
    async with asyncio.timeout(60), person, person.stream("GET", "/approvals/stream") as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-store"
        lines = response.aiter_lines()
        first = await read_events(lines, 1)
        await served.store.approvals.withdraw(asked.id)
        second = await read_events(lines, 1)
        served.services.close()
        rest = [line async for line in lines if line.startswith("data")]
    assert [(one["id"], one["status"]) for one in first + second] == [
        (asked.id, "pending"),
        (asked.id, "cancelled"),
    ]
    assert rest == []


async def test_streams_count_among_those_who_listen(world: World):
    """One limit for sockets and streams."""
    world.services.hub._most = 0
    async with await world.person() as person:
        assert (await person.get("/approvals/stream")).status_code == 429
