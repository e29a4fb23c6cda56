"""The changes of the store, heard once a process."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import Any, cast

from amplifier_hooks.approvals.errors import StoreUnavailable
from amplifier_hooks.approvals.stores.engine import Change
from amplifier_hooks.server.live import feed as feed_module
from amplifier_hooks.server.live.feed import EVERYTHING, ChangeFeed
from tests.support.waiting import wait_until


class Announcer:
    """Something to listen to, which fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.changes: asyncio.Queue[Change] = asyncio.Queue()
        self.failures = failures

    @asynccontextmanager
    async def listen(self):
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("gone")

        async def follow():
            while True:
                yield await self.changes.get()

        yield follow()


async def test_who_waits_for_one_thing_is_woken_by_it_and_by_anything():
    """A change that names nothing may be about everything."""
    feed = ChangeFeed(cast(Any, Announcer()))
    with feed.watch("approval", "a") as mine, feed.watch("approval", "b") as other:
        feed.deliver(Change("approval", "a"))
        assert (mine.is_set(), other.is_set()) == (True, False)
        feed.deliver(Change("session", "b"))
        assert not other.is_set()
        feed.deliver(EVERYTHING)
        assert other.is_set()
    assert feed._waiting == {}


async def test_closing_wakes_everybody_also_those_who_come_later():
    """Long polls are answered when the server ends."""
    feed = ChangeFeed(cast(Any, Announcer()))
    with feed.watch("approval", "a") as early:
        feed.close()
        assert early.is_set()
    with feed.watch("approval", "a") as late:
        assert late.is_set()


async def test_after_an_interruption_anything_may_have_changed(monkeypatch):
    """The store is listened to again, and whoever waits looks again."""
    monkeypatch.setattr(feed_module, "RETRY_SECONDS", 0.001)
    announcer = Announcer(failures=2)
    feed, heard = ChangeFeed(cast(Any, announcer)), list[Change]()
    feed.subscribe(heard.append)
    running = asyncio.create_task(feed.run())
    await wait_until(feed.listening.is_set)
    announcer.changes.put_nowait(Change("approval", "a"))
    await wait_until(lambda: len(heard) == 2)
    running.cancel()
    assert heard == [EVERYTHING, Change("approval", "a")]
    assert announcer.failures == 0
