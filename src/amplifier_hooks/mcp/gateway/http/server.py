"""The channel to an MCP server by streamable HTTP, of both eras of the protocol."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from amplifier_core.utils import describe_error
from amplifier_hooks.guards.mcp.frames import (
    INTERNAL_ERROR,
    Frame,
    FrameError,
    make_key,
    read_frames,
    refuse,
    write_frame,
)
from amplifier_hooks.guards.mcp.protocol import CALL
from amplifier_hooks.machine.open_files import share_of_files
from amplifier_hooks.mcp.gateway.channel import ChannelError, ChannelNote
from amplifier_hooks.mcp.gateway.http.connection import (
    Wire,
    WireError,
    check_address,
    describe_end,
    describe_status,
    load_httpx,
    read_body,
)
from amplifier_hooks.mcp.gateway.http.wire_format import (
    HEADER_MISMATCH,
    KIND,
    SESSION,
    VERSION,
    EventError,
    EventReader,
    ParamHeaders,
    list_mirrored,
    read_version,
)

if TYPE_CHECKING:
    import httpx2


logger = logging.getLogger(__name__)

INITIALIZE = "initialize"
_SESSION = re.compile(r"[\x21-\x7e]{1,1024}")


class Conversation:
    """Grows with the answers; says which headers a message needs."""

    def __init__(self) -> None:
        self.session = ""
        self.version = ""
        self._params = ParamHeaders()

    def list_headers(self, frame: Frame) -> dict[str, str]:
        """The headers of a message, from what is sent now."""
        if frame.method == INITIALIZE:
            return {}
        mirrored = list_mirrored(frame)
        if mirrored:
            return {**mirrored, **self._params.list_headers(frame)}
        return self.list_session_headers()

    def list_session_headers(self) -> dict[str, str]:
        """Those that every request of a session needs."""
        found = {SESSION: self.session, VERSION: self.version}
        return {name: value for name, value in found.items() if value}

    def list_stream_headers(self, last_id: str) -> dict[str, str]:
        """Those of a request for a stream, which goes on after an event if one is named."""
        resumed = {"Last-Event-ID": last_id} if last_id else {}
        return {"Accept": KIND, **resumed, **self.list_session_headers()}

    def learn(self, request: Frame, answer: Frame, headers: Mapping[str, str]) -> Frame:
        """Note what an answer says; return it, without tools that may not be used over HTTP."""
        result = answer.message.get("result")
        if not isinstance(result, dict):
            return answer
        if request.method == INITIALIZE:
            self._begin(result, headers)
        elif request.method == "tools/list" and isinstance(result.get("tools"), list):
            return self._learn_tools(answer, result)
        return answer

    def _begin(self, result: Mapping[str, Any], headers: Mapping[str, str]) -> None:
        session = headers.get(SESSION.lower(), "")
        if session and not _SESSION.fullmatch(session):
            raise WireError("the server names its session with characters that HTTP does not allow")
        self.session = session
        version = result.get("protocolVersion")
        self.version = version if isinstance(version, str) and _SESSION.fullmatch(version) else ""

    def _learn_tools(self, answer: Frame, result: Mapping[str, Any]) -> Frame:
        refused = self._params.learn(result["tools"])
        for name, reason in refused.items():
            logger.warning("the tool %.100r is left out: %s", name, reason)
        if not refused:
            return answer
        kept = [
            one
            for one in result["tools"]
            if not (isinstance(one, dict) and one.get("name") in refused)
        ]
        return write_frame({**answer.message, "result": {**result, "tools": kept}})


JSON = "application/json"
LATE_SECONDS = 5.0
"""How long a stream may go on after the answer."""
_TRIES = 5

Deliver = Callable[[bytes | ChannelError], Awaitable[None]]


class SessionExpired(WireError):
    """The server does not know the session any more, and has not carried the message out."""


class HeadersRefused(WireError):
    """The server wants other headers for a call, and has not carried it out."""

    def __init__(self, answer: Frame) -> None:
        super().__init__("the server wants other headers for this call")
        self.answer = answer


class Unreadable(WireError):
    """Something came that cannot be passed on; it may have been the answer."""


class Exchange:
    """A message on its way. What fails is raised as WireError."""

    def __init__(
        self, frame: Frame, wire: Wire, conversation: Conversation, deliver: Deliver
    ) -> None:
        self.frame = frame
        self.is_modern = read_version(frame) is not None
        self.is_cancelled = False
        self.answered = asyncio.Event()
        self._wire = wire
        self._conversation = conversation
        self._deliver = deliver

    @property
    def _is_answered(self) -> bool:
        return self.answered.is_set()

    async def run(self) -> None:
        """Send the message and deliver what comes for it, the answer last."""
        headers = {
            "Content-Type": JSON,
            "Accept": f"{JSON}, {KIND}",
            **self._conversation.list_headers(self.frame),
        }
        reader = EventReader()
        try:
            async with self._wire.request("POST", headers, self.frame.raw) as response:
                await self._read(response, reader)
        except Unreadable:
            raise
        except WireError:
            if not self._is_answered and not self._can_resume(reader):
                raise
        while self._can_resume(reader):
            await self._resume(reader)
        if self.frame.is_request and not self._is_answered:
            raise describe_end(self._wire.host)

    def _can_resume(self, reader: EventReader) -> bool:
        return bool(reader.last_id) and not self._is_answered and not self.is_modern

    async def _read(self, response: httpx2.Response, reader: EventReader) -> None:
        if not response.is_success:
            await self._read_refusal(response)
        elif self.frame.is_request:
            await self._read_answer(response, reader)

    async def _read_answer(self, response: httpx2.Response, reader: EventReader) -> None:
        kind = read_kind(response)
        if kind == KIND:
            await self._read_events(response, reader)
        elif kind == JSON:
            body = await read_body(self._wire.host, response)
            if body.strip():
                await self._pass_on(body, response)
        elif response.status_code == 200:
            raise WireError(
                f"{self._wire.host} answered with {kind or 'nothing'!r:.60}, which is neither JSON "
                "nor an event stream; check the address"
            )
        if kind != KIND and not self._is_answered:
            raise WireError(f"{self._wire.host} took the request, but did not answer it")

    async def _read_events(self, response: httpx2.Response, reader: EventReader) -> None:
        try:
            async with asyncio.timeout(None) as limit:
                async for chunk in response.aiter_raw():
                    for event in reader.feed(chunk):
                        if event.kind == "message":
                            await self._pass_on(event.data, response)
                    if self._is_answered and limit.when() is None:
                        limit.reschedule(asyncio.get_running_loop().time() + LATE_SECONDS)
        except TimeoutError:
            return  # it was answered; a server need not close the stream
        except EventError as error:
            raise Unreadable(f"{self._wire.host}: {error}") from None

    async def _pass_on(self, raw: bytes, response: httpx2.Response) -> None:
        try:
            frames = read_frames(raw)
        except FrameError as error:
            raise Unreadable(f"{self._wire.host}: {error}") from None
        for frame in frames:
            if frame.is_response and frame.key == self.frame.key:
                frame = self._conversation.learn(self.frame, frame, response.headers)
                self.answered.set()
            await self._deliver(frame.raw)

    async def _read_refusal(self, response: httpx2.Response) -> None:
        refusal = describe_status(self._wire.host, response.status_code, response.headers)
        error = _find_error(await read_body(self._wire.host, response))
        if self._is_expired(response.status_code, error):
            raise SessionExpired(
                f"{self._wire.host} has ended the session; the client has to start it again"
            )
        if error is None:
            raise refusal
        if not self.frame.is_request:
            raise WireError(f"{refusal}: {error.message['error'].get('message')!r:.200}")
        answer = write_frame({**error.message, "id": self.frame.message["id"]})
        is_mismatch = error.message["error"].get("code") == HEADER_MISMATCH
        if is_mismatch and self.is_modern and self.frame.method == CALL:
            raise HeadersRefused(answer)
        self.answered.set()
        await self._deliver(answer.raw)

    def _is_expired(self, status: int, error: Frame | None) -> bool:
        """Whether the server does not know our session; many say 400 instead of 404."""
        if not self._conversation.session or self.is_modern or self.frame.method == INITIALIZE:
            return False
        said = "" if error is None else str(error.message["error"].get("message"))
        return status == 404 or (status == 400 and "session" in said.lower())

    async def _resume(self, reader: EventReader) -> None:
        """Read on where the stream broke, with a few tries."""
        reader.discard_rest()
        for trial in range(_TRIES):
            await asyncio.sleep(reader.find_wait(trial))
            headers = self._conversation.list_stream_headers(reader.last_id)
            try:
                async with self._wire.request("GET", headers) as response:
                    if not response.is_success or read_kind(response) != KIND:
                        break
                    await self._read_events(response, reader)
                    return
            except Unreadable:
                raise
            except WireError:
                if self._is_answered:
                    return
        raise describe_end(self._wire.host)


def read_kind(response: httpx2.Response) -> str:
    """What kind of answer it is."""
    return response.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _find_error(body: bytes) -> Frame | None:
    """The JSON-RPC error in the body of a refusal."""
    try:
        frames = read_frames(body)
    except FrameError:
        return None
    found = frames[0] if len(frames) == 1 else None
    if found is None or not isinstance(found.message.get("error"), dict):
        return None
    return found


_NOT_OFFERED = frozenset({404, 405})


async def follow_server(wire: Wire, conversation: Conversation, deliver: Deliver) -> None:
    """Deliver what the server says of its own accord, for as long as it can be reached.

    Returns when the server offers no such stream. A broken one is opened again, and goes on after
    the last event if the server numbers them.
    """
    reader = EventReader()
    trial = 0
    is_said = False
    while True:
        try:
            if not await _follow_once(wire, conversation, deliver, reader):
                return
            trial = 0
            is_said = False
        except WireError as error:
            if not is_said:
                reason = str(error).partition(";")[0]
                await deliver(ChannelNote(f"{reason}; the stream of its messages is opened again"))
            trial = trial + 1
            is_said = True
        reader.discard_rest()
        await asyncio.sleep(reader.find_wait(trial))


async def _follow_once(
    wire: Wire, conversation: Conversation, deliver: Deliver, reader: EventReader
) -> bool:
    """Whether the server offers the stream; it has ended when this returns."""
    async with wire.request("GET", conversation.list_stream_headers(reader.last_id)) as response:
        if response.status_code in _NOT_OFFERED or 200 < response.status_code < 300:
            return False
        if response.is_client_error or (response.is_success and read_kind(response) != KIND):
            refusal = describe_status(wire.host, response.status_code, response.headers)
            await deliver(ChannelNote(f"{refusal}; nothing but answers comes from this server"))
            return False
        if not response.is_success:
            raise describe_status(wire.host, response.status_code, response.headers)
        async for chunk in response.aiter_raw():
            await _deliver_events(wire.host, chunk, deliver, reader)
    return True


async def _deliver_events(host: str, chunk: bytes, deliver: Deliver, reader: EventReader) -> None:
    try:
        events = reader.feed(chunk)
    except EventError as error:
        raise WireError(f"{host}: {error}") from None
    for event in events:
        if event.kind != "message":
            continue
        try:
            for frame in read_frames(event.data):
                await deliver(frame.raw)
        except FrameError as error:
            await deliver(ChannelError(f"{host}: {error}"))


_PAGES = 100
_ID = "amplifier-gateway-tools"


async def renew_session(
    wire: Wire, conversation: Conversation, handshake: Mapping[str, Frame]
) -> None:
    """Start a session as the client had started the last one; WireError if that does not work.

    The client is not told what the server says about itself this time, so it must agree on the
    same version.
    """
    version = conversation.version
    for frame in handshake.values():
        await Exchange(frame, wire, conversation, _Answers()).run()
        if frame.method == INITIALIZE and conversation.version != version:
            raise SessionExpired(
                f"{wire.host} has ended the session and now speaks {conversation.version!r:.40}; "
                "start the client again"
            )


async def learn_tools(call: Frame, wire: Wire, conversation: Conversation) -> None:
    """List the tools in the name of who sent the call, to learn which headers they want."""
    cursor: str | None = None
    for _ in range(_PAGES):
        params = {"_meta": call.params.get("_meta", {})} | ({"cursor": cursor} if cursor else {})
        request = write_frame(
            {"jsonrpc": "2.0", "id": _ID, "method": "tools/list", "params": params}
        )
        answers = _Answers()
        await Exchange(request, wire, conversation, answers).run()
        cursor = answers.find_cursor()
        if not cursor:
            return


class _Answers:
    """What came for a message of the gateway's own; nobody else sees it."""

    def __init__(self) -> None:
        self._found: list[bytes] = []

    async def __call__(self, message: bytes | ChannelError) -> None:
        if isinstance(message, bytes):
            self._found.append(message)

    def find_cursor(self) -> str | None:
        """Where the list goes on."""
        results = [frame.message.get("result") for raw in self._found for frame in read_frames(raw)]
        found = next((one.get("nextCursor") for one in results if isinstance(one, dict)), None)
        return found if isinstance(found, str) else None


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
        session = self._conversation.session
        sent = self._conversation.list_headers(exchange.frame)
        try:
            await exchange.run()
        except SessionExpired:
            async with self._renewing:
                if self._conversation.session == session:
                    await renew_session(self._wire, self._conversation, self._handshake)
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
