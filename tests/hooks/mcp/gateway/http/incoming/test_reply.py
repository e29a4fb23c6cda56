"""What goes out to a client in answer to one of its HTTP requests."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.mcp.gateway.http.incoming import reply as reply_module
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply


async def test_messages_come_in_order_and_end_with_the_last_answer():
    """Two requests in one body have two answers."""
    reply = Reply({"1", "2"}, takes_events=True)
    reply.add(b"a")
    reply.answer("1", b"b")
    assert not reply.is_ended
    reply.answer("2", b"c")
    reply.add(b"too late")
    assert [reply.take() for _ in range(4)] == [b"a", b"b", b"c", None]
    assert reply.is_taken


async def test_whoever_waits_is_woken_by_a_message_or_the_end():
    """Nobody polls."""
    reply = Reply({"1"}, takes_events=True)
    waiting = asyncio.create_task(reply.wait())
    ending = asyncio.create_task(reply.wait_for_end())
    await asyncio.sleep(0)
    reply.add(b"a")
    await asyncio.wait_for(waiting, 30)
    assert not ending.done()
    reply.end()
    await asyncio.wait_for(ending, 30)


def test_a_client_that_takes_one_answer_gets_nothing_else():
    """There is no place for it."""
    reply = Reply({"1"}, takes_events=False)
    reply.add(b"progress")
    reply.answer("1", b"answer")
    assert reply.is_lone_answer


def test_a_client_that_does_not_read_is_given_up(monkeypatch: pytest.MonkeyPatch):
    """What waits for it has a limit; a single message may be as large as it likes."""
    monkeypatch.setattr(reply_module, "LARGEST_BACKLOG", 10)
    reply = Reply({"1"}, takes_events=True)
    reply.add(b"x" * 50)
    assert not reply.is_overrun
    reply.add(b"y")
    assert (reply.is_overrun, reply.is_ended, reply.take()) == (True, True, None)
