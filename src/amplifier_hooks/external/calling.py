"""A framework's tool call on the one path of tool calls, from a loop or from a thread."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Awaitable, Callable
from typing import Any

from amplifier_hooks.agent.session.foreign_call import Handler as Handler
from amplifier_hooks.agent.session.foreign_call import LoopSeat as LoopSeat
from amplifier_hooks.agent.session.foreign_call import RunEnded as RunEnded
from amplifier_hooks.agent.session.foreign_call import Seat as Seat
from amplifier_hooks.agent.session.foreign_call import Wanted as Wanted
from amplifier_hooks.agent.session.foreign_call import call_through_hooks as call_through_hooks
from amplifier_hooks.external.verdicts import Called


class ThreadSeat:
    """A handler is called by the thread that waits for the whole call."""

    def __init__(self) -> None:
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()

    async def call(self, handler: Handler, given: dict[str, Any]) -> Any:
        """Have it called by the waiting thread, and wait."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[Any] = loop.create_future()

        def work() -> None:
            try:
                value = handler(given)
            except BaseException as error:  # noqa: BLE001 - it belongs to who waits for the result
                loop.call_soon_threadsafe(_fail, done, error)
            else:
                loop.call_soon_threadsafe(_settle, done, value)

        self._work.put(work)
        return await done

    def serve(self) -> None:
        """Call handlers until the call is over."""
        while (work := self._work.get()) is not None:
            work()

    def leave(self, _: object = None) -> None:
        """The call is over."""
        self._work.put(None)


def _settle(done: asyncio.Future[Any], value: Any) -> None:
    if not done.done():
        done.set_result(value)


def _fail(done: asyncio.Future[Any], error: BaseException) -> None:
    if not done.done():
        plain = isinstance(error, Exception) and not isinstance(error, StopIteration)
        done.set_exception(error if plain else _Carried(error))


class _Carried(Exception):
    """What would stop a loop, or what no future holds, on its way to the thread that raised it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(f"{type(error).__name__}: {error}")
        self.error = error


Work = Callable[[Seat], Awaitable[Called]]


def call_from_thread(work: Work, loop: asyncio.AbstractEventLoop) -> Called:
    """Take a call along the path on a loop, while this thread waits and calls the handler."""
    seat = ThreadSeat()

    async def run() -> Called:
        return await work(seat)

    future = asyncio.run_coroutine_threadsafe(run(), loop)
    future.add_done_callback(seat.leave)
    try:
        seat.serve()
    except BaseException:
        future.cancel()
        raise
    try:
        return future.result()
    except _Carried as carried:
        raise carried.error from None
