"""Sessions, their records, and who owns them."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import SessionEntry, SessionRecord
from amplifier_hooks.approvals.stores import sessions
from amplifier_hooks.approvals.stores.sessions import encode_transcript
from amplifier_hooks.approvals.stores.store import Store
from tests.support.stores import ManualClock


def test_a_transcript_that_fits_is_kept_whole() -> None:
    """In order, with nothing added."""
    messages: list[dict[str, Any]] = [{"role": "user"}, {"role": "assistant"}]
    assert json.loads(encode_transcript(messages)) == messages
    assert encode_transcript([]) == "[]"


def test_a_message_larger_than_all_leaves_only_the_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is cut in the middle."""
    monkeypatch.setattr(sessions, "TRANSCRIPT", 50)
    assert json.loads(encode_transcript([{"x": "y" * 100}])) == [{"left_out": 1}]
    with pytest.raises(BadRequest, match="JSON"):
        encode_transcript([{"x": object()}])


async def test_a_lost_session_that_reports_again_is_found_again(
    store: Store, clock: ManualClock
) -> None:
    """Its process was only slow."""
    await store.sessions.save(SessionEntry(id="s", status="waiting"))
    clock.advance(31)
    assert [one.status for one in await store.sessions.mark_lost(30.0)] == ["lost"]
    await store.sessions.save(SessionEntry(id="s", status="running"))
    assert (await store.sessions.get("s")).status == "running"
    assert await store.sessions.mark_lost(30.0) == []


async def test_a_time_that_came_with_the_entry_is_kept_once(store: Store) -> None:
    """The first one says when the session began."""
    await store.sessions.save(SessionEntry(id="s", created=5.0))
    await store.sessions.save(SessionEntry(id="s", created=9.0))
    assert (await store.sessions.get("s")).created == 5.0


async def test_listeners_hear_which_session_published(store: Store) -> None:
    """Once for a batch; an empty batch is no news."""
    async with store.listen() as changes:
        await store.records.publish("s", [])
        await store.records.publish(
            "s", [SessionRecord(number=n, time=1.0, type="x") for n in (1, 2, 3)]
        )
        change = await asyncio.wait_for(anext(changes), 30)
    assert (change.topic, change.subject) == ("records", "s")


async def test_records_are_read_in_pages_by_number(store: Store) -> None:
    """Whatever order they came in."""
    await store.records.publish(
        "s", [SessionRecord(number=n, time=1.0, type="x") for n in (5, 1, 3)]
    )
    await store.records.publish("other", [SessionRecord(number=2, time=1.0, type="x")])
    assert [one.number for one in await store.records.read("s", limit=2)] == [1, 3]
    assert [one.number for one in await store.records.read("s", after=3)] == [5]
