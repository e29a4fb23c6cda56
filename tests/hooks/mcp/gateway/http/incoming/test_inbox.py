"""What clients have sent and the relay has not read yet."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.mcp.gateway.http.incoming import inbox
from amplifier_hooks.mcp.gateway.http.incoming.inbox import Inbox


async def test_messages_come_in_their_order_and_the_end_stays() -> None:
    """Whoever asks again learns of the end again."""
    box = Inbox()
    await box.put(b"a")
    box.put_if_room(b"b")
    assert [await box.read(), await box.read()] == [b"a", b"b"]
    await box.put(b"lost")
    box.end()
    assert [await box.read(), await box.read()] == [None, None]


async def test_who_sends_waits_for_room_and_who_cannot_wait_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client that sends faster than its messages are read is held up."""
    monkeypatch.setattr(inbox, "_WAITING", 1)
    box = Inbox()
    await box.put(b"a")
    box.put_if_room(b"left out")
    late = asyncio.create_task(box.put(b"b"))
    await asyncio.sleep(0)
    assert not late.done()
    assert await box.read() == b"a"
    await late
    assert await box.read() == b"b"
