"""Sessions."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_hooks.approvals.models import (
    SessionEntry,
    SessionRecord,
    SessionStatus,
)
from tests.hooks.server.world import World


async def test_sessions_of_all_machines_are_listed_by_page_and_filter(world: World):
    """Everything hooks did can be seen in one place."""
    statuses: tuple[SessionStatus, ...] = ("running", "ended", "running")
    for number, status in enumerate(statuses):
        entry = SessionEntry(
            id=f"s{number}", machine=f"m{number}", status=status, created=number + 1
        )
        await world.store.sessions.save(entry)
    async with await world.person() as person:

        async def ids(**query: Any) -> list[str]:
            found = (await person.get("/sessions", params=query)).json()
            return [one["id"] for one in found["sessions"]]

        assert await ids() == ["s2", "s1", "s0"]
        assert await ids(status="running") == ["s2", "s0"]
        assert await ids(machine="m1") == ["s1"]
        page = (await person.get("/sessions", params={"limit": 2})).json()
        assert await ids(limit=2, after=page["next"]) == ["s0"]


async def test_a_session_that_waits_says_for_what(world: World):
    """`approval_required` comes back, and the wait ends when the status changes."""
    await world.store.sessions.save(SessionEntry(id="session-1", user="bot"))
    async with await world.person() as person:
        query: dict[str, Any] = {"wait": 60, "while": "running"}
        waiting = asyncio.create_task(person.get("/sessions/session-1", params=query))
        asked = await world.ask()
        await world.store.sessions.save(SessionEntry(id="session-1", user="bot", status="waiting"))
        found = (await waiting).json()
        assert (await person.get("/sessions/nothing")).status_code == 404
    assert found["status"] == "waiting"
    assert [one["id"] for one in found["approval_required"]] == [asked.id]


async def test_records_are_read_from_a_number_on_and_waited_for(world: World):
    """The live timeline, for clients without a socket."""
    await world.store.sessions.save(SessionEntry(id="s", user="bot"))
    await world.store.records.publish(
        "s", [SessionRecord(number=1, time=1.0, type="dispatch", body={"a": 1})]
    )
    async with await world.person() as person:
        first = (await person.get("/sessions/s/records")).json()["records"]
        query = {"after": 1, "wait": 60}
        waiting = asyncio.create_task(person.get("/sessions/s/records", params=query))
        await world.store.records.publish("s", [SessionRecord(number=2, time=1.0, type="dispatch")])
        second = (await waiting).json()["records"]
        assert (await person.get("/sessions/nothing/records")).status_code == 404
    assert [(one["number"], one["body"]) for one in first] == [(1, {"a": 1})]
    assert [one["number"] for one in second] == [2]


async def test_the_transcript_is_what_was_said(world: World):
    """As it was after the last turn, and empty before it."""
    await world.store.sessions.save(SessionEntry(id="s", user="bot"))
    messages = [{"role": "user", "content": "hi"}]
    async with await world.person() as person:
        assert (await person.get("/sessions/s/transcript")).json() == {"messages": []}
        await world.store.sessions.save(SessionEntry(id="s", user="bot"), messages)
        assert (await person.get("/sessions/s/transcript")).json() == {"messages": messages}
        assert (await person.get("/sessions/x/transcript")).status_code == 404
