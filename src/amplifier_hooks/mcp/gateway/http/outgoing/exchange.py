"""One message to the server, and what comes back for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from amplifier_hooks.guards.mcp.frames import Frame, FrameError, read_frames, write_frame
from amplifier_hooks.guards.mcp.protocol import CALL
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.mirrored_headers import HEADER_MISMATCH, read_version
from amplifier_hooks.mcp.gateway.http.outgoing.conversation import INITIALIZE, Conversation
from amplifier_hooks.mcp.gateway.http.outgoing.failures import (
    WireError,
    describe_end,
    describe_status,
)
from amplifier_hooks.mcp.gateway.http.outgoing.wire import Wire, read_body
from amplifier_hooks.mcp.gateway.http.sse import KIND, EventError, EventReader

if TYPE_CHECKING:
    import httpx2

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
        reader.forget_rest()
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
