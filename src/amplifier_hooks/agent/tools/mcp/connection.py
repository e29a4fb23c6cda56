"""The connection to one server, kept alive: when it ends, it is started again."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Protocol

from amplifier_core.errors import AmplifierError, ModuleLoadError
from amplifier_core.models import Level
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.tools.mcp.config import ServerConfig
from amplifier_hooks.agent.tools.mcp.link import Link, LinkError, News

logger = logging.getLogger(__name__)

OpenLink = Callable[[News], AbstractAsyncContextManager[Link]]

LONG_ENOUGH = 60.0
"""Seconds after which a server that ends has not failed in a row with the time before."""


class Unavailable(Exception):
    """There is no connection, and why."""


class Listener(Protocol):
    """A session that uses the server."""

    def tell(self, text: str, level: Level) -> None: ...
    def relist(self) -> None: ...
    def take_log(self, level: str, text: str) -> None: ...


class Connection:
    """One server, used by a session and its sub-agents."""

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        open_link: OpenLink,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.name = name
        self.config = config
        self.hide = hide
        """Replaces the secrets that the server was given, in a text."""
        self._open_link = open_link
        self._listeners: list[Listener] = []
        self._link: Link | None = None
        self._why = "it has not been started"
        self._is_over = False
        self._was_up = False
        self._failures = 0
        self._turned = asyncio.Event()
        """Set while the connection is up, or given up."""
        self._tried = asyncio.Event()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    # For sessions

    async def start(self) -> None:
        """Start the server, and wait until it has come up or failed for the first time."""
        if self._task is None:
            loop = asyncio.get_running_loop()
            # A context of its own: it outlives whatever is under way now.
            self._task = loop.create_task(
                self._run(), name=f"mcp:{self.name}", context=contextvars.Context()
            )
        await self._tried.wait()

    @property
    def problem(self) -> str | None:
        """Why there is no connection now; None if there is one."""
        return None if self._link is not None else self._why

    @property
    def is_over(self) -> bool:
        """Whether it is not tried any more."""
        return self._is_over

    async def acquire(self) -> Link:
        """The connection; waits for one that is being started, as long as a start may take."""
        if self._link is not None and self._link.ended.is_set():
            self._go_down(self._link.reason or "it ended")
        if self._link is None and not self._is_over:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.config.start_timeout):
                    await self._turned.wait()
        if self._link is None:
            raise Unavailable(self._why)
        return self._link

    def join(self, listener: Listener) -> None:
        """Tell a session of what happens from now on."""
        self._listeners.append(listener)

    def leave(self, listener: Listener) -> None:
        """Tell it no more."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def close(self) -> None:
        """End the server."""
        self._stop.set()
        if self._task is None:
            return
        if self._link is None:  # it need not be waited for: nobody wants it any more
            self._task.cancel()
        try:
            await asyncio.wait({self._task})
        except asyncio.CancelledError:
            self._task.cancel()
            raise

    # Its life

    async def _run(self) -> None:
        try:
            while not self._stop.is_set():
                await self._live()
                if self._stop.is_set() or not self._may_try_again():
                    break
                await self._wait_before_restart()
        finally:
            self._link, self._is_over = None, True
            self._turned.set()
            self._tried.set()

    async def _live(self) -> None:
        """One life of the server, to its end; `_why` says then how it ended."""
        started: float | None = None
        clock = asyncio.get_running_loop().time
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.config.start_timeout):
                    link = await stack.enter_async_context(self._open_link(self._make_news()))
                started = clock()
                self._come_up(link)
                await self._wait_for_end(link)
                self._go_down(link.reason or "it ended")
        except Exception as error:  # noqa: BLE001 - whatever it was, the session goes on
            self._take_failure(error, is_start=started is None)
        if started is not None and clock() - started > LONG_ENOUGH:
            self._failures = 0
        self._failures += 1

    def _take_failure(self, error: Exception, *, is_start: bool) -> None:
        if not is_start:  # why it ended is known; that it could not be ended well says less
            logger.debug("The end of the MCP server %s: %s", self.name, describe_error(error))
            self._go_down(_explain(error) if self._link is not None else self._why)
        elif isinstance(error, TimeoutError):
            self._go_down(f"it did not answer within {self.config.start_timeout:g} seconds")
        else:
            if isinstance(error, ModuleLoadError):  # no such program, no such secret
                self._failures = self.config.restart.attempts
            self._go_down(_explain(error))

    def _come_up(self, link: Link) -> None:
        is_first, was_up = not self._tried.is_set(), self._was_up
        self._link, self._was_up = link, True
        self._turned.set()
        self._tried.set()
        if not is_first:
            self._tell("is running again." if was_up else "is running now.", "info")
            self.relist()

    async def _wait_for_end(self, link: Link) -> None:
        waits = [asyncio.ensure_future(one.wait()) for one in (link.ended, self._stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    def _go_down(self, why: str) -> None:
        self._link, self._why = None, why
        self._turned.clear()

    def _may_try_again(self) -> bool:
        restart = self.config.restart
        if self._failures <= restart.attempts:
            return True
        times = "once" if self._failures == 1 else f"{self._failures} times in a row"
        what = "is not started again in this session" if restart.attempts else "is not restarted"
        if self._tried.is_set():
            self._tell(f"{self._verb} ({times}): {self._why}\nIt {what}.", "error")
        self._why = f"{self._why} (it {what})"
        return False

    async def _wait_before_restart(self) -> None:
        restart = self.config.restart
        delay = restart.get_delay(self._failures)
        if self._tried.is_set():
            count = f"{self._failures} of {restart.attempts}"
            again = "Connecting again" if self.config.url else "Starting it again"
            told = f"{self._verb}: {self._why}\n{again} in {delay:g} s ({count})."
            self._tell(told, "warning")
        self._tried.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await self._stop.wait()

    # Telling

    @property
    def _verb(self) -> str:
        return "has ended" if self._was_up else "has not started"

    def relist(self) -> None:
        """Have every session look at the tools again."""
        for one in list(self._listeners):
            one.relist()

    def _tell(self, what: str, level: Level) -> None:
        for one in list(self._listeners):
            one.tell(f"The MCP server {self.name!r} {what}", level)

    def _make_news(self) -> News:
        def take_log(level: str, text: str) -> None:
            for one in list(self._listeners):
                one.take_log(level, text)

        return News(self.relist, take_log)


def _explain(error: Exception) -> str:
    """The innermost cause: task groups wrap what was raised in them."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    told = isinstance(error, AmplifierError | LinkError)
    return str(error) if told else describe_error(error)
