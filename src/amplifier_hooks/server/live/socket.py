"""One WebSocket: hello, everything that is pending, then news one way and decisions the other."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from amplifier_hooks.approvals.errors import NotAllowed, StoreError, TooMany
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.server.bodies import Body, DecisionBody, Id, Name
from amplifier_hooks.server.callers import Caller, decide, identify_again
from amplifier_hooks.server.encoding import describe_error
from amplifier_hooks.server.guard import check_json
from amplifier_hooks.server.live.hub import Hub, Subscriber, Update, say

if TYPE_CHECKING:
    from amplifier_hooks.approvals.stores.store import Store


MAX_MESSAGE = 64 * 1024

T = TypeVar("T")


class BadMessage(Exception):
    """A message that nobody may send; the text says why, without repeating it."""


class Hello(Body):
    """The first message. A browser proves with `csrf` that our own page sends it."""

    type: Literal["hello"]
    csrf: Name = ""
    session: Name | None = None
    after: Annotated[int, Field(ge=0, le=2**53)] = 0
    window: Annotated[int, Field(ge=1, le=500)] | None = None
    """How many of those that wait are told at first, with their number; null: all of them."""


class Watch(Body):
    """Which session's records to send, and from where on; null: of none."""

    type: Literal["watch"]
    session: Name | None
    after: Annotated[int, Field(ge=0, le=2**53)] = 0


class Decide(DecisionBody):
    """A decision, as `POST /approvals/ID/decision` takes it."""

    type: Literal["decide"]
    id: Id


class Pong(Body):
    """The answer to a ping."""

    type: Literal["pong"]


ClientMessage = Watch | Decide | Pong
_HELLO: TypeAdapter[Hello] = TypeAdapter(Hello)
_LATER: TypeAdapter[ClientMessage] = TypeAdapter(
    Annotated[ClientMessage, Field(discriminator="type")]
)


def parse_hello(text: str) -> Hello:
    """The first message."""
    return _parse(_HELLO, text)


def parse_message(text: str) -> ClientMessage:
    """Any later message."""
    return _parse(_LATER, text)


def _parse(adapter: TypeAdapter[T], text: str) -> T:
    if len(text) > MAX_MESSAGE:
        raise BadMessage(f"a message has at most {MAX_MESSAGE} bytes")
    try:
        check_json(text.encode("utf-8", "surrogatepass"))
    except Refusal as refusal:
        raise BadMessage(refusal.message) from refusal
    try:
        return adapter.validate_json(text)
    except (ValidationError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        raise BadMessage(first["msg"] if first else "nested too deeply") from error


logger = logging.getLogger(__name__)

HELLO_SECONDS = 2.0
_CLOSE_SECONDS = 2.0
_FIRST_APPROVALS = 500
_AT_ONCE = 20
POLICY = 1008
TRY_LATER = 1013


class LiveSocket:
    """The life of one connection."""

    def __init__(self, websocket: WebSocket, store: Store, hub: Hub, caller: Caller) -> None:
        self._websocket = websocket
        self._store = store
        self._hub = hub
        self._caller = caller

    async def run(self) -> None:
        """Serve it until either side ends it."""
        await self._websocket.accept()
        try:
            hello = await self._receive_hello()
            with self._hub.subscribe(self._is_known) as subscriber:
                await self._serve(subscriber, hello)
        except BadMessage as error:
            await self._close(POLICY, str(error))
        except TooMany as error:
            await self._close(TRY_LATER, str(error))
        except WebSocketDisconnect:
            pass

    async def _receive_hello(self) -> Hello:
        try:
            async with asyncio.timeout(HELLO_SECONDS):
                hello = parse_hello(await self._receive())
        except TimeoutError as error:
            raise BadMessage(f"no hello within {HELLO_SECONDS:g} seconds") from error
        if not self._caller.proves(hello.csrf):
            raise BadMessage("csrf is missing or wrong; the answer to the login has it")
        return hello

    async def _serve(self, subscriber: Subscriber, hello: Hello) -> None:
        self._hub.watch(subscriber, hello.session or "", hello.after)
        tasks = [asyncio.create_task(self._write(subscriber, hello.window))]

        def end() -> None:
            """Closing ends the reading, too."""
            tasks[0].cancel()
            tasks.append(asyncio.create_task(self._close(subscriber.ended, "")))

        subscriber.on_end = end
        try:
            await self._read(subscriber)
        finally:
            subscriber.on_end = tasks[0].cancel
            tasks[0].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, subscriber: Subscriber) -> None:
        while True:
            message = parse_message(await self._receive())
            if isinstance(message, Watch):
                self._hub.watch(subscriber, message.session or "", message.after)
            elif isinstance(message, Decide):
                subscriber.offer(await self._decide(message))

    async def _decide(self, message: Decide) -> Update:
        try:
            # The credential may have been taken back since the handshake.
            caller = await identify_again(self._store.access, self._caller)
            if caller is None:
                raise NotAllowed("The credential is no longer valid.")
            decided = await decide(self._store, caller, message.id, message)
        except StoreError as error:
            return say(type="refused", key=message.key, **describe_error(error)[1])
        return say(type="decided", key=message.key, approval=decided)

    async def _write(self, subscriber: Subscriber, window: int | None) -> None:
        try:
            await self._send_first(window)
            subscriber.counts = window is not None
            while (update := await subscriber.take()) is not None:
                await self._send(update)
        except WebSocketDisconnect:
            return
        except StoreError as error:
            logger.warning("a client could not be told what is pending: %s", error)
            subscriber.end(TRY_LATER)

    async def _send_first(self, window: int | None) -> None:
        identity = self._caller.identity
        await self._send(say(type="welcome", name=identity.name, scopes=identity.scopes))
        if window is not None:
            await self._send(await self._hub.pending.read_window(window))
            return
        pending = await self._hub.pending.read()
        first = ",".join(one.payload for one in pending[:_FIRST_APPROVALS])
        await self._websocket.send_text(f'{{"type":"pending","approvals":[{first}]}}')
        for number, one in enumerate(pending[_FIRST_APPROVALS:]):
            await self._send(one)
            if number % _AT_ONCE == 0:  # decisions go on while many pages open
                await asyncio.sleep(0)

    async def _send(self, update: Update) -> None:
        await self._websocket.send_text(update.message)

    async def _is_known(self) -> bool:
        return await identify_again(self._store.access, self._caller) is not None

    async def _receive(self) -> str:
        message = await self._websocket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        text = message.get("text")
        if text is None:
            raise BadMessage("messages are text")
        return str(text)

    async def _close(self, code: int, reason: str) -> None:
        """Say goodbye; who does not read is not waited for."""
        if self._websocket.application_state != WebSocketState.CONNECTED:
            return
        try:
            async with asyncio.timeout(_CLOSE_SECONDS):
                with suppress(RuntimeError, WebSocketDisconnect):
                    await self._websocket.close(code, reason[:100])
        except TimeoutError:
            abort: Callable[[], Any] | None = self._websocket.scope.get("state", {}).get("abort")
            if abort is not None:
                abort()
