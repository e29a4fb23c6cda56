"""The channel to an MCP server by streamable HTTP, of both eras of the protocol."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from amplifier_core.utils import describe_error
from amplifier_hooks.guards.mcp.frames import INTERNAL_ERROR, Frame, make_key, refuse
from amplifier_hooks.machine.open_files import share_of_files
from amplifier_hooks.mcp.gateway.channel import ChannelError, ChannelNote
from amplifier_hooks.mcp.gateway.http.exchange import (
    INITIALIZE,
    Conversation,
    Exchange,
    HeadersRefused,
    SessionExpired,
    begin_again,
    follow_server,
    learn_tools,
)
from amplifier_hooks.mcp.gateway.http.server_requests import (
    Wire,
    WireError,
    check_address,
    load_httpx,
)

INITIALIZED = "notifications/initialized"
CANCELLED = "notifications/cancelled"
HANDSHAKE_SECONDS = 120.0
TAKING_SECONDS = 60.0
"""For what is not answered: the server has only to take it."""
AFTER_CANCEL_SECONDS = 30.0
_LEAVING_SECONDS = 3.0
_WAITING = 256
_AT_ONCE = 512


class HttpServer:
    """Sends each message in a request of its own, several at once, and merges what comes back.

    A request that fails is answered with an error that says why. What else fails is raised by
    `receive`, and the next message can be received.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._wire = Wire(check_address(url, headers or {}))
        load_httpx()  # what is missing is said now, not in the first answer
        self._conversation = Conversation()
        self._inbox: asyncio.Queue[bytes | ChannelError | None] = asyncio.Queue(_WAITING)
        self._outbox: asyncio.Queue[Frame] = asyncio.Queue(_WAITING)
        self._places = asyncio.Semaphore(share_of_files(4, _AT_ONCE))
        self._open: dict[str, tuple[Exchange, asyncio.Task[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._sender: asyncio.Task[None] | None = None
        self._follower: asyncio.Task[None] | None = None
        self._handshake: dict[str, Frame] = {}
        self._renewing = asyncio.Lock()
        self._is_closed = False

    async def receive(self) -> bytes | None:
        """The next message of the server, from whichever answer or stream."""
        found = await self._inbox.get()
        if found is None:
            self._inbox.put_nowait(None)
        if isinstance(found, ChannelError):
            raise found
        return found

    async def send(self, frame: Frame) -> None:
        """Hand a message over; it is sent after those before it, without waiting for answers."""
        if self._is_closed:
            raise ChannelError(f"The connection to {self._wire.host} is closed")
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_in_order())
        await self._outbox.put(frame)

    async def close(self) -> None:
        """End the session and all connections."""
        if self._is_closed:
            return
        self._is_closed = True
        await self._empty_outbox()
        told = {task for task in self._tasks if task.get_name() == "telling"}
        if told:
            await asyncio.wait(told, timeout=_LEAVING_SECONDS)
        await self._stop_tasks()
        if self._conversation.session:
            with suppress(WireError, TimeoutError):
                async with asyncio.timeout(_LEAVING_SECONDS):
                    headers = self._conversation.list_session_headers()
                    async with self._wire.request("DELETE", headers):
                        pass
        await self._wire.close()
        while not self._inbox.empty():
            self._inbox.get_nowait()
        self._inbox.put_nowait(None)

    async def _empty_outbox(self) -> None:
        """Start what was handed over before."""
        for _ in range(_WAITING):
            if self._outbox.empty():
                break
            await asyncio.sleep(0)
        await asyncio.sleep(0)

    async def _stop_tasks(self) -> None:
        own = [one for one in (self._sender, self._follower) if one is not None]
        stopped = [*own, *self._tasks]
        for task in stopped:
            task.cancel()
        await asyncio.gather(*stopped, return_exceptions=True)

    async def _send_in_order(self) -> None:
        while True:
            frame = await self._outbox.get()
            if frame.method == CANCELLED and self._cancel(frame):
                continue
            exchange = Exchange(frame, self._wire, self._conversation, self._inbox.put)
            task = self._start(exchange)
            if frame.method in (INITIALIZE, INITIALIZED):
                # Nothing may overtake these two: the session is named in the answer to the first.
                self._handshake[frame.method] = frame
                await _wait_for_answer(exchange, task)
            if frame.method == INITIALIZED:
                self._follow()

    def _start(self, exchange: Exchange) -> asyncio.Task[None]:
        frame = exchange.frame
        name = "asking" if frame.is_request else "telling"
        task = asyncio.create_task(self._carry_out(exchange), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if frame.is_request and frame.key is not None:
            self._open[frame.key] = (exchange, task)
        return task

    async def _carry_out(self, exchange: Exchange) -> None:
        frame = exchange.frame
        try:
            if frame.is_request:
                async with self._places, asyncio.timeout(_find_limit(frame)):
                    await self._ask(exchange)
            else:
                async with asyncio.timeout(TAKING_SECONDS):
                    await self._ask(exchange)
        except TimeoutError:
            await self._report(exchange, f"{self._wire.host} took too long")
        except WireError as error:
            await self._report(exchange, str(error))
        except Exception as error:  # noqa: BLE001 - nobody may wait for ever
            await self._report(exchange, f"{self._wire.host}: {describe_error(error)}")
        finally:
            if frame.key is not None and self._open.get(frame.key, (None,))[0] is exchange:
                del self._open[frame.key]

    async def _ask(self, exchange: Exchange) -> None:
        """Run an exchange; once more if what was in its way can be mended."""
        session, sent = self._conversation.session, self._conversation.list_headers(exchange.frame)
        try:
            await exchange.run()
        except SessionExpired:
            async with self._renewing:
                if self._conversation.session == session:
                    await begin_again(self._wire, self._conversation, self._handshake)
                    await self._inbox.put(
                        ChannelNote(
                            f"{self._wire.host} had ended the session; a new one was begun, "
                            "without what the old one had, such as subscriptions"
                        )
                    )
                    self._follow()
            await exchange.run()
        except HeadersRefused as refusal:
            await learn_tools(exchange.frame, self._wire, self._conversation)
            if self._conversation.list_headers(exchange.frame) == sent:
                await self._inbox.put(refusal.answer.raw)
            else:
                await exchange.run()

    async def _report(self, exchange: Exchange, reason: str) -> None:
        frame = exchange.frame
        if not frame.is_request:
            what = frame.method or "an answer"
            await self._inbox.put(ChannelNote(f"{what} did not get through: {reason}"))
        elif not exchange.is_cancelled:
            await self._inbox.put(refuse(frame.message["id"], INTERNAL_ERROR, reason).raw)

    def _cancel(self, frame: Frame) -> bool:
        """Whether a cancellation is carried out: without a session, by ending the request."""
        id = frame.params.get("requestId")
        exchange, task = self._open.get(make_key(id), (None, None))
        if exchange is None or task is None:
            return INITIALIZE not in self._handshake  # it came too late, and nobody else has use
        exchange.is_cancelled = True
        if exchange.is_modern:
            task.cancel()
        else:
            asyncio.get_running_loop().call_later(AFTER_CANCEL_SECONDS, task.cancel)
        return exchange.is_modern

    def _follow(self) -> None:
        if self._follower is not None:
            self._follower.cancel()
        self._follower = asyncio.create_task(self._follow_server())

    async def _follow_server(self) -> None:
        try:
            await follow_server(self._wire, self._conversation, self._inbox.put)
        except Exception as error:  # noqa: BLE001 - it is said, and answers still come
            why = f"the stream of its messages failed: {describe_error(error)}"
            await self._inbox.put(ChannelNote(f"{self._wire.host}: {why}"))


async def _wait_for_answer(exchange: Exchange, task: asyncio.Task[None]) -> None:
    """Until a message is answered or has failed; its stream may stay open for longer."""
    answered = asyncio.create_task(exchange.answered.wait())
    try:
        await asyncio.wait({task, answered}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        answered.cancel()


def _find_limit(frame: Frame) -> float | None:
    """None for a call: it takes as long as it takes."""
    return HANDSHAKE_SECONDS if frame.method == INITIALIZE else None
