"""A tool call of another program on the one path of tool calls: hooks, its own handler, hooks."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import AmplifierError
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.tool_call import call_tool

Handler = Callable[[dict[str, Any]], Any]
"""The program's own way to run the tool: gets the arguments, returns its kind of result."""

ReadResult = Callable[[Any], ToolResult]
"""What hooks see of a result of the program."""


class RunEnded(AmplifierError):
    """The run of the program is over; what a person allows now runs nothing."""


@dataclass(frozen=True, slots=True)
class Called:
    """Of a tool call."""

    result: ToolResult
    """What hooks left; its text is `result.get_serialized_output()`."""
    value: Any = None
    """What the program's own handler returned, if it ran."""
    ran: bool = False
    changed: bool = False
    """Whether `result` is another one than `value` was."""

    @property
    def untouched(self) -> bool:
        """Whether the program goes on with exactly what its handler returned."""
        return self.ran and not self.changed

    @property
    def text(self) -> str:
        """What the model reads of a result that is not the handler's own."""
        return self.result.get_serialized_output()


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
