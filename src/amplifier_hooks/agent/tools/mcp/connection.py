"""The connection to one server, kept alive: when it ends, it is started again."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakValueDictionary

from amplifier_core.errors import AmplifierError, ModuleLoadError
from amplifier_core.interfaces import Host
from amplifier_core.models import Level
from amplifier_core.utils import describe_error
from amplifier_hooks.agent.tools.mcp.client import Client, NotificationHandlers, ServerError
from amplifier_hooks.agent.tools.mcp.launch import ServerConfig

logger = logging.getLogger(__name__)

Connect = Callable[[NotificationHandlers], AbstractAsyncContextManager[Client]]

STABLE_SECONDS = 60.0
"""Seconds after which a server that ends has not failed in a row with the time before."""


class Unavailable(Exception):
    """There is no connection, and why."""


class Listener(Protocol):
    """A session that uses the server."""

    def notify(self, text: str, level: Level) -> None: ...
    def refresh_later(self) -> None: ...
    def log_message(self, level: str, text: str) -> None: ...


class Connection:
    """One server, used by a session and its sub-agents."""

    def __init__(
        self,
        name: str,
        config: ServerConfig,
        connect: Connect,
        hide: Callable[[str], str] = str,
    ) -> None:
        self.name = name
        self.config = config
        self.hide = hide
        """Replaces the secrets that the server was given, in a text."""
        self._connect = connect
        self._listeners: list[Listener] = []
        self._client: Client | None = None
        self._problem = "it has not been started"
        self._is_abandoned = False
        self._was_up = False
        self._failures = 0
        self._settled = asyncio.Event()
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
        return None if self._client is not None else self._problem

    @property
    def is_abandoned(self) -> bool:
        """Whether it is not tried any more."""
        return self._is_abandoned

    async def acquire(self) -> Client:
        """The connection; waits for one that is being started, as long as a start may take."""
        if self._client is not None and self._client.ended.is_set():
            self._record_end(self._client.reason or "it ended")
        if self._client is None and not self._is_abandoned:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self.config.start_timeout):
                    await self._settled.wait()
        if self._client is None:
            raise Unavailable(self._problem)
        return self._client

    def add_listener(self, listener: Listener) -> None:
        """Tell a session of what happens from now on."""
        self._listeners.append(listener)

    def remove_listener(self, listener: Listener) -> None:
        """Tell it no more."""
        if listener in self._listeners:
            self._listeners.remove(listener)

    async def close(self) -> None:
        """End the server."""
        self._stop.set()
        if self._task is None:
            return
        if self._client is None:  # it need not be waited for: nobody wants it any more
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
                await self._run_once()
                if self._stop.is_set() or not self._may_try_again():
                    break
                await self._wait_before_restart()
        finally:
            self._client = None
            self._is_abandoned = True
            self._settled.set()
            self._tried.set()

    async def _run_once(self) -> None:
        """One life of the server, to its end; `_problem` says then how it ended."""
        started: float | None = None
        clock = asyncio.get_running_loop().time
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(self.config.start_timeout):
                    client = await stack.enter_async_context(self._connect(self._make_handlers()))
                started = clock()
                self._record_start(client)
                await self._wait_for_end(client)
                self._record_end(client.reason or "it ended")
        except Exception as error:  # noqa: BLE001 - whatever it was, the session goes on
            self._record_failure(error, is_start=started is None)
        if started is not None and clock() - started > STABLE_SECONDS:
            self._failures = 0
        self._failures += 1

    def _record_failure(self, error: Exception, *, is_start: bool) -> None:
        if not is_start:  # why it ended is known; that it could not be ended well says less
            logger.debug("The end of the MCP server %s: %s", self.name, describe_error(error))
            self._record_end(_explain(error) if self._client is not None else self._problem)
        elif isinstance(error, TimeoutError):
            self._record_end(f"it did not answer within {self.config.start_timeout:g} seconds")
        else:
            if isinstance(error, ModuleLoadError):  # no such program, no such secret
                self._failures = self.config.restart.attempts
            self._record_end(_explain(error))

    def _record_start(self, client: Client) -> None:
        is_first = not self._tried.is_set()
        was_up = self._was_up
        self._client = client
        self._was_up = True
        self._settled.set()
        self._tried.set()
        if not is_first:
            self._notify("is running again." if was_up else "is running now.", "info")
            self.refresh_later()

    async def _wait_for_end(self, client: Client) -> None:
        waits = [asyncio.ensure_future(one.wait()) for one in (client.ended, self._stop)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()

    def _record_end(self, why: str) -> None:
        self._client = None
        self._problem = why
        self._settled.clear()

    def _may_try_again(self) -> bool:
        restart = self.config.restart
        if self._failures <= restart.attempts:
            return True
        times = "once" if self._failures == 1 else f"{self._failures} times in a row"
        what = "is not started again in this session" if restart.attempts else "is not restarted"
        if self._tried.is_set():
            self._notify(
                f"{self._describe_failure} ({times}): {self._problem}\nIt {what}.", "error"
            )
        self._problem = f"{self._problem} (it {what})"
        return False

    async def _wait_before_restart(self) -> None:
        restart = self.config.restart
        delay = restart.get_delay(self._failures)
        if self._tried.is_set():
            count = f"{self._failures} of {restart.attempts}"
            again = "Connecting again" if self.config.url else "Starting it again"
            told = f"{self._describe_failure}: {self._problem}\n{again} in {delay:g} s ({count})."
            self._notify(told, "warning")
        self._tried.set()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(delay):
                await self._stop.wait()

    # Telling

    @property
    def _describe_failure(self) -> str:
        return "has ended" if self._was_up else "has not started"

    def refresh_later(self) -> None:
        """Have every session look at the tools again."""
        for one in list(self._listeners):
            one.refresh_later()

    def _notify(self, what: str, level: Level) -> None:
        for one in list(self._listeners):
            one.notify(f"The MCP server {self.name!r} {what}", level)

    def _make_handlers(self) -> NotificationHandlers:
        def log_message(level: str, text: str) -> None:
            for one in list(self._listeners):
                one.log_message(level, text)

        return NotificationHandlers(self.refresh_later, log_message)


def _explain(error: Exception) -> str:
    """The innermost cause: task groups wrap what was raised in them."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    told = isinstance(error, AmplifierError | ServerError)
    return str(error) if told else describe_error(error)


@dataclass(slots=True)
class _Shared:
    connection: Connection
    users: int = 0


class SharedConnections:
    """The connections in use, by what they lead to."""

    def __init__(self) -> None:
        self._shared: dict[str, _Shared] = {}

    def get_or_open(self, key: str, make: Callable[[], Connection]) -> Connection:
        """The connection for a key; made if the session and its sub-agents have none."""
        if key not in self._shared:
            self._shared[key] = _Shared(make())
        self._shared[key].users += 1
        return self._shared[key].connection

    async def release(self, key: str) -> None:
        """The last user who releases it ends the server."""
        shared = self._shared.get(key)
        if shared is None:
            return
        shared.users -= 1
        if shared.users <= 0:
            del self._shared[key]
            await shared.connection.close()


_shared_by_session: WeakValueDictionary[
    tuple[asyncio.AbstractEventLoop, str], SharedConnections
] = WeakValueDictionary()


def find_shared_connections(host: Host) -> SharedConnections:
    """Those of a session, or of its parent if that uses servers too. Keep what you get."""
    loop = asyncio.get_running_loop()
    names = [one for one in (host.session_id, host.parent_id) if one]
    found = next((known for one in names if (known := _shared_by_session.get((loop, one)))), None)
    shared = found or SharedConnections()
    if host.session_id:
        _shared_by_session[loop, host.session_id] = shared
    return shared
