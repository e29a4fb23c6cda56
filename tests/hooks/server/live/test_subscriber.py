"""Somebody who looks."""

from __future__ import annotations

from amplifier_hooks.server.live.hub import PING, QUEUE, Subscriber, say


async def yes() -> bool:
    return True


async def test_what_is_offered_is_taken_in_order():
    """A queue."""
    subscriber, other = Subscriber(yes), say(type="other")
    subscriber.offer(PING)
    subscriber.offer(other)
    assert [await subscriber.take(), await subscriber.take()] == [PING, other]


async def test_a_full_queue_ends_it():
    """Bounded queues: whoever reads too slowly is cut off, with 1013."""
    subscriber, ends = Subscriber(yes), []
    subscriber.on_end = lambda: ends.append(subscriber.ended)
    for _ in range(QUEUE):
        subscriber.offer(PING)
    assert (subscriber.ended, QUEUE) == (0, 256)
    subscriber.offer(PING)
    assert ends == [1013]
    subscriber.offer(PING)
    assert await subscriber.take() is None
    assert subscriber._queue.qsize() <= 1


async def test_it_ends_once():
    """The first reason counts."""
    subscriber, ends = Subscriber(yes), []
    subscriber.on_end = lambda: ends.append(1)
    subscriber.end(1001)
    subscriber.end(1013)
    assert (subscriber.ended, ends) == (1001, [1])
    assert await subscriber.take() is None
