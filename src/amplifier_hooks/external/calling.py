"""A tool call of another program on the one path of tool calls, from a loop or from a thread."""

from __future__ import annotations

import asyncio
import inspect
import queue
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import AmplifierError
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.tool_call import call_tool
from amplifier_hooks.external.verdicts import Called

Handler = Callable[[dict[str, Any]], Any]
"""The program's own way to run the tool: gets the arguments, returns its kind of result."""

ReadResult = Callable[[Any], ToolResult]
"""What hooks see of a result of the program."""


class RunEnded(AmplifierError):
    """The run of the program is over; what a person allows now runs nothing."""


class Seat(Protocol):
    """Where a handler is called: where the program called us."""

    async def call(self, handler: Handler, given: dict[str, Any]) -> Any: ...


class LoopSeat:
    """A handler is called on the loop that the program runs on."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop

    async def call(self, handler: Handler, given: dict[str, Any]) -> Any:
        """Call it there, and wait."""
        if asyncio.get_running_loop() is self._loop:
            return await _await(handler, given)
        work = asyncio.run_coroutine_threadsafe(_await(handler, given), self._loop)
        return await asyncio.wrap_future(work)


async def _await(handler: Handler, given: dict[str, Any]) -> Any:
    found = handler(given)
    return await found if inspect.isawaitable(found) else found


@dataclass(slots=True)
class Wanted:
    """A tool call of a program."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    handler: Handler
    read: ReadResult
    steering: tuple[type[BaseException], ...] = ()
    """Exceptions by which the program goes on elsewhere: they pass, and no tool has failed."""
    is_alive: Callable[[], bool] | None = None
    """Whether the run still waits for this; asked once hooks and people are done."""


@dataclass(slots=True)
class _Proxy:
    """Stands for the program's tool, once."""

    wanted: Wanted
    handler: Handler
    is_alive: Callable[[], bool]
    seat: Seat
    steering: tuple[type[BaseException], ...]
    ran: bool = False
    value: Any = None
    error: BaseException | None = None
    seen: ToolResult | None = field(default=None)

    async def execute(self, given: dict[str, Any]) -> ToolResult:
        """Call the program's handler with what hooks left."""
        if not self.is_alive():
            raise RunEnded("the run ended before this was allowed, so nothing was run")
        self.ran = True
        try:
            self.value = await self.seat.call(self.handler, given)
        except BaseException as error:
            self.error = error
            raise
        self.seen = self.wanted.read(self.value)
        return self.seen


async def call_through_hooks(
    coordinator: SessionCoordinator,
    wanted: Wanted,
    seat: Seat,
    handler: Handler | None = None,
    is_alive: Callable[[], bool] = lambda: True,
) -> Called:
    """Take the call along the path; what the handler raised is raised again.

    `handler` is called instead of the program's own, which it calls; `is_alive` is asked as well.
    """
    also = wanted.is_alive
    alive = is_alive if also is None else lambda: is_alive() and also()
    proxy = _Proxy(wanted, handler or wanted.handler, alive, seat, wanted.steering)
    call = ToolCall(id=wanted.call_id, name=wanted.name, arguments=wanted.arguments)
    result = await call_tool(coordinator, call, {wanted.name: proxy})
    if proxy.error is not None and not result.denied:
        raise proxy.error
    changed = result is not proxy.seen
    return Called(result, proxy.value, ran=proxy.ran, changed=changed)


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
