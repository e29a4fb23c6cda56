"""Long polls."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.server.live import feed as waiting_module
from amplifier_hooks.server.live.feed import MAX_WAIT, ChangeFeed, wait_while


class Row:
    """A value that can be read, and how often it was."""

    def __init__(self) -> None:
        self.value, self.reads = "pending", 0
        self.read_once = asyncio.Event()

    async def read(self) -> str:
        self.reads += 1
        self.read_once.set()
        return self.value


def wait(feed: ChangeFeed, row: Row, seconds: float):
    return wait_while(feed, ("approval", "a"), row.read, lambda it: it == "pending", seconds)


async def test_a_change_is_answered_at_once_and_no_sooner():
    """Waiters wake by a signal; the row is the truth."""
    feed, row = ChangeFeed(None), Row()
    waiting = asyncio.create_task(wait(feed, row, MAX_WAIT))
    await row.read_once.wait()
    feed.deliver(Change("approval", "a"))
    await asyncio.sleep(0)
    assert not waiting.done()
    row.value = "approved"
    feed.deliver(Change("approval", "a"))
    assert await asyncio.wait_for(waiting, 30) == "approved"


async def test_what_changed_before_is_found_on_the_first_read():
    """A decision that arrives before the waiter listens is found."""
    feed, row = ChangeFeed(None), Row()
    row.value = "denied"
    assert await wait(feed, row, MAX_WAIT) == "denied"
    assert row.reads == 1


async def test_when_the_time_is_over_it_is_as_it_is():
    """A waiter's own timeout never changes the row."""
    feed, row = ChangeFeed(None), Row()
    assert await wait(feed, row, 0.0) == "pending"
    assert await wait(feed, row, 0.01) == "pending"


async def test_a_change_that_nobody_told_of_is_found_by_looking(monkeypatch: pytest.MonkeyPatch):
    """News may get lost; the row is the truth."""
    monkeypatch.setattr(waiting_module, "_POLL_SECONDS", 0.02)
    feed, row = ChangeFeed(None), Row()
    waiting = asyncio.create_task(wait(feed, row, MAX_WAIT))
    await row.read_once.wait()
    row.value = "expired"
    assert await asyncio.wait_for(waiting, 30) == "expired"


async def test_a_server_that_ends_answers_at_once():
    """Graceful shutdown: long polls are answered."""
    feed, row = ChangeFeed(None), Row()
    waiting = asyncio.create_task(wait(feed, row, MAX_WAIT))
    await row.read_once.wait()
    feed.close()
    assert await asyncio.wait_for(waiting, 30) == "pending"
