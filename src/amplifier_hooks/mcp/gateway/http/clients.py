"""The clients that connect by HTTP, with or without a session, and the relay behind each."""

from __future__ import annotations

import asyncio
import itertools
import logging
import secrets
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.utils import cancel_and_wait, describe_error
from amplifier_hooks.guards.mcp.frames import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    LARGEST,
    Frame,
    make_key,
    refuse,
    write_frame,
)
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import Channel, ChannelError
from amplifier_hooks.mcp.gateway.http.guard import ListenSettings, MessageRefusal
from amplifier_hooks.mcp.gateway.http.wire_format import ParamHeaders, list_mirrored

_WAITING = 1024


class Inbox:
    """Messages in their order, until the end."""

    def __init__(self) -> None:
        self._queue: asyncio.Queue[bytes | None] = asyncio.Queue(_WAITING)

    async def read(self) -> bytes | None:
        """The next message; None when no more will come, however often one asks."""
        found = await self._queue.get()
        if found is None:
            self._queue.put_nowait(None)
        return found

    async def add(self, raw: bytes) -> None:
        """Add a message, once there is room for it."""
        await self._queue.put(raw)

    def add_if_room(self, raw: bytes) -> None:
        """Add a message that nobody can wait for, unless there is no room."""
        if not self._queue.full():
            self._queue.put_nowait(raw)

    def end(self) -> None:
        """Nobody waits for answers to what is still here."""
        while not self._queue.empty():
            self._queue.get_nowait()
        self._queue.put_nowait(None)


LARGEST_BACKLOG = 2 * LARGEST
"""Bytes that wait for a client that does not read; it is given up if there are more."""


class Reply:
    """Messages for one answer, in the order in which they came."""

    def __init__(self, waits_for: Collection[str], *, accepts_events: bool) -> None:
        self.open = set(waits_for)
        """The keys of the requests that are not answered yet."""
        self.accepts_events = accepts_events
        """Whether the client takes several messages, or just the answer."""
        self.is_ended = False
        self.is_overrun = False
        self._waiting: deque[bytes] = deque()
        self._size = 0
        self._news = asyncio.Event()

    def add(self, raw: bytes) -> None:
        """A message that goes with it."""
        if self.accepts_events and not self.is_ended:
            self._add(raw)

    def answer(self, key: str, raw: bytes) -> None:
        """The response to one of its requests; it ends with the last."""
        self.open.discard(key)
        self._add(raw)
        if not self.open:
            self.end()

    def end(self) -> None:
        """No more will come."""
        self.is_ended = True
        self._news.set()

    async def wait_for_end(self) -> None:
        """Until no more will come."""
        while not self.is_ended:
            self._news.clear()
            await self._news.wait()

    async def wait(self) -> None:
        """Until there is a message, or no more will come."""
        while not self._waiting and not self.is_ended:
            self._news.clear()
            await self._news.wait()

    def pop(self) -> bytes | None:
        """The next message, if there is one."""
        if not self._waiting:
            return None
        raw = self._waiting.popleft()
        self._size -= len(raw)
        return raw

    @property
    def is_lone_answer(self) -> bool:
        """Whether it is one message, and no more will come."""
        return self.is_ended and len(self._waiting) == 1

    @property
    def is_drained(self) -> bool:
        """Whether nothing is left and nothing will come."""
        return self.is_ended and not self._waiting

    def _add(self, raw: bytes) -> None:
        if self._size + len(raw) > LARGEST_BACKLOG and self._waiting:
            self.is_overrun = True
            self._waiting.clear()
            self.end()
            return
        self._waiting.append(raw)
        self._size += len(raw)
        self._news.set()


logger = logging.getLogger(__name__)

PROGRESS = "notifications/progress"
CANCELLED = "notifications/cancelled"
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class _OpenRequest:
    """A request that waits for its response."""

    id: Any
    token: str | None
    reply: Reply


class ClientSession:
    """One client. Its requests are told apart by their ids, which it gives each only once."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._inbox = Inbox()
        self._asked: dict[str, _OpenRequest] = {}
        self._tokens: dict[str, str] = {}
        self._stream: Reply | None = None
        self._kept: deque[Frame] = deque()
        self._is_closed = False
        self._why = "the client has left"

    # For the relay

    async def receive(self) -> bytes | None:
        """The next message of the client."""
        return await self._inbox.read()

    async def send(self, frame: Frame) -> None:
        """Put a message into the answer to which it belongs."""
        if self._is_closed:
            raise ChannelError(self._why)
        if frame.is_response:
            self._answer(frame)
        else:
            self._send_notification(frame)

    async def close(self) -> None:
        """Tell the client that no more will come."""
        self.fail("the gateway has ended the connection")

    # For the HTTP side

    @property
    def is_idle(self) -> bool:
        """Whether the client waits for nothing."""
        return not self._asked and (self._stream is None or self._stream.is_ended)

    async def submit(self, frames: Sequence[Frame], *, accepts_events: bool) -> Reply:
        """Hand messages to the relay, and get the reply that will have the answers."""
        self._check_open()
        asked = {frame.key: frame for frame in frames if frame.is_request and frame.key is not None}
        for key, frame in asked.items():
            if key in self._asked:
                why = "Another request with this id is under way."
                raise MessageRefusal(400, why, INVALID_REQUEST, frame.message["id"])
        reply = Reply(asked, accepts_events=accepts_events)
        for key, frame in asked.items():
            one = self._asked[key] = _OpenRequest(frame.message["id"], find_token(frame), reply)
            if one.token is not None:
                self._tokens[one.token] = key
        for frame in frames:
            await self._inbox.add(frame.raw)
            if frame.method == CANCELLED:
                self._end_cancelled(make_key(frame.params.get("requestId")))
        return reply

    def open_stream(self) -> Reply:
        """The reply for what belongs to no request; a new one takes the place of the last."""
        self._check_open()
        if self._stream is not None:
            self._stream.end()
        self._stream = Reply((), accepts_events=True)
        while self._kept:
            self._stream.add(self._kept.popleft().raw)
        return self._stream

    async def cancel(self, reply: Reply) -> None:
        """The client does not wait for this reply any more: cancel what it asked for."""
        reply.end()
        for key in list(reply.open):
            asked = self._forget(key)
            if asked is not None and not self._is_closed:
                await self._inbox.add(write_cancellation(asked.id).raw)

    def fail(self, why: str) -> None:
        """End everything; requests that wait are answered with the reason."""
        if self._is_closed:
            return
        self._is_closed = True
        self._why = why
        for key, asked in self._asked.items():
            asked.reply.answer(key, refuse(asked.id, INTERNAL_ERROR, why).raw)
        self._asked.clear()
        if self._stream is not None:
            self._stream.end()
        self._inbox.end()

    def _end_cancelled(self, key: str) -> None:
        """No response will come for what the client itself has cancelled."""
        asked = self._forget(key)
        if asked is None:
            return
        if asked.reply.accepts_events and len(asked.reply.open) == 1:
            asked.reply.end()
        else:
            asked.reply.answer(key, refuse(asked.id, INTERNAL_ERROR, "cancelled").raw)

    def _check_open(self) -> None:
        if self._is_closed:
            raise Refusal(404, f"The session has ended: {self._why}. Start a new one.")

    def _answer(self, frame: Frame) -> None:
        key = frame.key or ""
        asked = self._forget(key)
        if asked is not None:  # else the client has left
            asked.reply.answer(key, frame.raw)

    def _forget(self, key: str) -> _OpenRequest | None:
        asked = self._asked.pop(key, None)
        if asked is not None and asked.token is not None:
            self._tokens.pop(asked.token, None)
        return asked

    def _send_notification(self, frame: Frame) -> None:
        if frame.method == PROGRESS:
            key = self._tokens.get(make_key(frame.params.get("progressToken")), "")
            if key in self._asked:
                self._asked[key].reply.add(frame.raw)
            return
        open_streams = [one.reply for one in self._asked.values() if one.reply.accepts_events]
        if self._stream is not None and not self._stream.is_ended:
            self._stream.add(frame.raw)
        elif open_streams:
            open_streams[-1].add(frame.raw)
        else:
            self._keep(frame)

    def _keep(self, frame: Frame) -> None:
        """Wait for the client to open a stream."""
        self._kept.append(frame)
        if len(self._kept) > _KEPT:
            lost = self._kept.popleft()
            logger.warning("a client reads no messages; %.100s was dropped", lost.method)
            if lost.is_request:
                why = "the client reads no requests"
                self._inbox.add_if_room(refuse(lost.message["id"], INTERNAL_ERROR, why).raw)


def write_cancellation(id: Any) -> Frame:
    """Says that nobody waits for a request any more."""
    params = {"requestId": id, "reason": "the client has disconnected"}
    return write_frame({"jsonrpc": "2.0", "method": CANCELLED, "params": params})


def find_token(frame: Frame) -> str | None:
    """The key of the token that progress of a request will have."""
    meta = frame.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return make_key(token) if isinstance(token, str | int) else None


SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_TOKEN = "progressToken"
_METHOD_NOT_FOUND = -32601


@dataclass(frozen=True, slots=True)
class _SharedRequest:
    """A request under way: what its client calls it."""

    id: Any
    token: Any
    method: str
    reply: Reply


class SharedClients:
    """All clients at once."""

    def __init__(self) -> None:
        self._inbox = Inbox()
        self._numbers = itertools.count(1)
        self._asked: dict[str, _SharedRequest] = {}
        self._params = ParamHeaders()
        self._is_closed = False
        self._why = "the gateway has ended"

    # For the relay

    async def receive(self) -> bytes | None:
        """The next message of any client."""
        return await self._inbox.read()

    async def send(self, frame: Frame) -> None:
        """Put a message into the answer to which it belongs."""
        if self._is_closed:
            raise ChannelError(self._why)
        if frame.is_response:
            self._answer(frame)
        elif frame.is_request:
            why = "clients without a session take no requests"
            await self._inbox.add(refuse(frame.message["id"], _METHOD_NOT_FOUND, why).raw)
        else:
            self._send_notification(frame)

    async def close(self) -> None:
        """Tell the clients that no more will come."""
        self.fail("the gateway has ended the connection")

    # For the HTTP side

    @property
    def is_closed(self) -> bool:
        """Whether the relay behind it has ended."""
        return self._is_closed

    @property
    def is_idle(self) -> bool:
        """Whether no client waits for anything."""
        return not self._asked

    async def submit(self, frame: Frame, *, accepts_events: bool) -> Reply:
        """Hand a message to the relay, and get the reply that will have the answer."""
        if self._is_closed:
            why = f"{self._why}; try again"
            raise MessageRefusal(503, why, INVALID_REQUEST, frame.message.get("id"))
        if not frame.is_request:
            await self._inbox.add(frame.raw)
            return Reply((), accepts_events=False)
        id = f"amplifier-{next(self._numbers)}"
        key = make_key(id)
        params, token = _replace_token(frame.params, id)
        reply = Reply({key}, accepts_events=accepts_events)
        self._asked[key] = _SharedRequest(frame.message["id"], token, frame.method, reply)
        changed = {**frame.message, "id": id, **({"params": params} if params else {})}
        await self._inbox.add(write_frame(changed).raw)
        return reply

    def list_headers(self, frame: Frame) -> dict[str, str]:
        """The headers that must come with a message, and say the same."""
        return {**list_mirrored(frame), **self._params.list_headers(frame)}

    async def cancel(self, reply: Reply) -> None:
        """A client does not wait any more: cancel what it asked for."""
        reply.end()
        for key in list(reply.open):
            if self._asked.pop(key, None) is not None and not self._is_closed:
                await self._inbox.add(write_cancellation(_read_key(key)).raw)

    def fail(self, why: str) -> None:
        """End everything; requests that wait are answered with the reason."""
        if self._is_closed:
            return
        self._is_closed = True
        self._why = why
        for key, asked in self._asked.items():
            asked.reply.answer(key, refuse(asked.id, INTERNAL_ERROR, why).raw)
        self._asked.clear()
        self._inbox.end()

    def _answer(self, frame: Frame) -> None:
        key = frame.key or ""
        asked = self._asked.pop(key, None)
        if asked is not None:  # else its client has left
            self._learn(asked, frame)
            restored = write_frame({**frame.message, "id": asked.id})
            asked.reply.answer(key, restored.raw)

    def _learn(self, asked: _SharedRequest, frame: Frame) -> None:
        """Note which arguments clients have to repeat in headers."""
        result = frame.message.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if asked.method == "tools/list" and isinstance(tools, list):
            self._params.learn(tools)

    def _send_notification(self, frame: Frame) -> None:
        meta = frame.params.get("_meta")
        subscription = meta.get(SUBSCRIPTION) if isinstance(meta, dict) else None
        if frame.method == PROGRESS:
            asked = self._asked.get(make_key(frame.params.get(_TOKEN)))
            params = {**frame.params, _TOKEN: asked.token} if asked else {}
        elif isinstance(meta, dict) and subscription is not None:
            asked = self._asked.get(make_key(subscription))
            params = {**frame.params, "_meta": {**meta, SUBSCRIPTION: asked.id}} if asked else {}
        else:
            self._send_to_only_one(frame)
            return
        if asked is not None:  # else its client has left
            asked.reply.add(write_frame({**frame.message, "params": params}).raw)

    def _send_to_only_one(self, frame: Frame) -> None:
        """Pass on what names no request if there is just one; no client may read for another."""
        if len(self._asked) == 1:
            next(iter(self._asked.values())).reply.add(frame.raw)
        else:
            logger.warning("%.100s was dropped: nothing tells for which client", frame.method)


def _replace_token(params: dict[str, Any], id: str) -> tuple[dict[str, Any], Any]:
    """The params with our token in place of the client's, and the client's."""
    meta = params.get("_meta")
    if not isinstance(meta, dict) or _TOKEN not in meta:
        return params, None
    return {**params, "_meta": {**meta, _TOKEN: id}}, meta[_TOKEN]


def _read_key(key: str) -> str:
    return key.strip('"')


Serve = Callable[[Channel, Mapping[str, str]], Awaitable[object]]
"""Relays between a client and a server of its own until one of them goes, with these headers of
the client for the server. What it raises is said to the client and in the log."""

LEAVING_SECONDS = 20.0


@dataclass(slots=True)
class Connection:
    """A client, or all clients without a session, and the relay behind it."""

    client: ClientSession | SharedClients
    authorization: str = field(repr=False)
    relaying: asyncio.Task[None]
    used: float
    """When somebody was here last."""


class Hub:
    """Finds the connection of a request, and makes it."""

    def __init__(
        self,
        settings: ListenSettings,
        serve: Serve,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._serve = serve
        self._sessions: dict[str, Connection] = {}
        self._shared: dict[str, Connection] = {}
        self._leaving: set[asyncio.Task[None]] = set()

    def begin_session(self, authorization: str) -> ClientSession:
        """A new client; Refusal if there are too many."""
        self._make_room()
        client = ClientSession(secrets.token_urlsafe(32))
        self._sessions[client.id] = self._connect(client, authorization)
        return client

    def find_session(self, id: str | None, authorization: str) -> ClientSession:
        """The client with this session; Refusal if there is none."""
        if id is None:
            raise Refusal(400, "Mcp-Session-Id is missing; the answer to initialize has it.")
        connection = self._sessions.get(id)
        if connection is None or connection.authorization != self._bind(authorization):
            raise Refusal(404, "There is no such session, or not any more; start a new one.")
        connection.used = self._clock()
        assert isinstance(connection.client, ClientSession)
        return connection.client

    def get_shared(self, authorization: str) -> SharedClients:
        """What stands for all clients without a session that have the same credential."""
        key = self._bind(authorization)
        connection = self._shared.get(key)
        if connection is None or (
            isinstance(connection.client, SharedClients) and connection.client.is_closed
        ):
            self._make_room()
            connection = self._shared[key] = self._connect(SharedClients(), authorization)
        connection.used = self._clock()
        assert isinstance(connection.client, SharedClients)
        return connection.client

    def end_session(self, client: ClientSession) -> None:
        """The client has left; its server ends meanwhile."""
        connection = self._sessions.pop(client.id, None)
        if connection is not None:
            self._end(connection, "the client has left")

    def end_idle(self) -> None:
        """Take leave of clients that nothing was heard of for long."""
        limit = self._clock() - self._settings.idle_seconds
        for table in (self._sessions, self._shared):
            idle = [key for key, one in table.items() if one.client.is_idle and one.used < limit]
            for key in idle:
                self._end(table.pop(key), "the client said nothing for a long time")

    async def close(self) -> None:
        """Take leave of all."""
        connections = [*self._sessions.values(), *self._shared.values()]
        self._sessions.clear()
        self._shared.clear()
        for one in connections:
            self._end(one, "the gateway ends")
        await asyncio.gather(*self._leaving)

    def _end(self, connection: Connection, why: str) -> None:
        connection.client.fail(why)
        task = asyncio.create_task(_wait_for_relay(connection.relaying))
        self._leaving.add(task)
        task.add_done_callback(self._leaving.discard)

    def _make_room(self) -> None:
        if len(self._sessions) + len(self._shared) >= self._settings.sessions:
            raise Refusal(503, f"{self._settings.sessions} clients are connected already.")

    def _bind(self, authorization: str) -> str:
        return authorization if self._settings.passes_authorization else ""

    def _connect(self, client: ClientSession | SharedClients, authorization: str) -> Connection:
        bound = self._bind(authorization)
        headers = {"Authorization": bound} if bound else {}
        relaying = asyncio.create_task(self._relay(client, headers))
        return Connection(client, bound, relaying, self._clock())

    async def _relay(
        self, client: ClientSession | SharedClients, headers: Mapping[str, str]
    ) -> None:
        why = "the server has gone"
        try:
            await self._serve(client, headers)
        except AmplifierError as error:
            why = str(error)
            logger.warning("a client cannot be served: %s", why)
        except Exception as error:
            why = f"the gateway failed: {describe_error(error)}"
            logger.exception("the relay for a client failed")
        finally:
            client.fail(why)
            self._forget(client)

    def _forget(self, client: ClientSession | SharedClients) -> None:
        for table in (self._sessions, self._shared):
            for key in [key for key, one in table.items() if one.client is client]:
                del table[key]


async def _wait_for_relay(relaying: asyncio.Task[None]) -> None:
    """Let the server end by itself, for some time."""
    await asyncio.wait({relaying}, timeout=LEAVING_SECONDS)
    await cancel_and_wait(relaying)
