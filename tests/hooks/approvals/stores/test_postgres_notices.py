"""The thread that hears of changes."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from amplifier_hooks.approvals.stores import postgres as notices_module
from amplifier_hooks.approvals.stores.engine import SOMETHING, Change, Listeners
from amplifier_hooks.approvals.stores.postgres import Notices
from amplifier_hooks.approvals.stores.postgres_connection import announce, open_connection
from tests.support.postgres_proxy import BreakingProxy


@pytest.fixture
def proxy(postgres_url: str) -> Iterator[BreakingProxy]:
    with TemporaryDirectory(prefix="pg-") as folder:
        made = BreakingProxy(postgres_url, Path(folder))
        with made.run():
            yield made


@pytest.fixture
async def changes(
    proxy: BreakingProxy, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[AsyncIterator[Change]]:
    monkeypatch.setattr(notices_module, "SILENT_SECONDS", 0.05)
    listeners = Listeners()
    notices = Notices(proxy.url, listeners)
    notices.start()
    notices.start()  # a second time is no second thread
    assert await asyncio.to_thread(notices.connected.wait, 60)
    async with listeners.listen() as heard:
        yield heard
    await asyncio.to_thread(notices.end)
    notices.end()


def tell(url: str, *subjects: str) -> None:
    with open_connection(url) as connection:
        announce(connection, [Change("approval", subject) for subject in subjects])


async def test_a_change_that_another_process_made_is_heard_in_order(
    changes: AsyncIterator[Change], postgres_url: str
) -> None:
    """Each as it was announced."""
    tell(postgres_url, "a", "b")
    tell(postgres_url, "c")
    assert [(await anext(changes)).subject for _ in range(3)] == ["a", "b", "c"]


async def test_after_a_lost_connection_anything_may_have_changed(
    changes: AsyncIterator[Change], proxy: BreakingProxy, postgres_url: str
) -> None:
    """What was announced meanwhile is told as `*`; from then on changes are heard again."""
    proxy.break_at("SELECT 1", "request")
    assert await anext(changes) == SOMETHING
    tell(postgres_url, "after")
    assert await anext(changes) == Change("approval", "after")
    assert proxy.broken == 1


async def test_the_thread_ends_though_the_server_is_gone(
    proxy: BreakingProxy, postgres_url: str
) -> None:
    """While it waits to connect again."""
    proxy.refuse()
    notices = Notices(proxy.url, Listeners())
    notices.start()
    await asyncio.to_thread(notices.end)
    assert not notices.connected.is_set()
    assert "store-notices" not in [thread.name for thread in threading.enumerate()]


def test_one_that_never_began_can_be_ended(postgres_url: str) -> None:
    """Most commands never listen."""
    notices = Notices(postgres_url, Listeners())
    notices.end()
    assert not notices.connected.is_set()
