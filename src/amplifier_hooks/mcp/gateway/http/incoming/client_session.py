"""The channel to a client that has started a session, over as many HTTP requests as it likes."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.guards.mcp.frames import (
    INTERNAL_ERROR,
    INVALID_REQUEST,
    Frame,
    make_key,
    refuse,
    write_frame,
)
from amplifier_hooks.http_guard import Refusal
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming.guard import MessageRefusal
from amplifier_hooks.mcp.gateway.http.incoming.inbox import Inbox
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply

logger = logging.getLogger(__name__)

PROGRESS = "notifications/progress"
CANCELLED = "notifications/cancelled"
_KEPT = 1000


@dataclass(frozen=True, slots=True)
class _Asked:
    """A request that waits for its response."""

    id: Any
    token: str | None
    reply: Reply


class ClientSession:
    """One client. Its requests are told apart by their ids, which it gives each only once."""

    def __init__(self, id: str) -> None:
        self.id = id
        self._inbox = Inbox()
        self._asked: dict[str, _Asked] = {}
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
            self._tell(frame)

    async def close(self) -> None:
        """Tell the client that no more will come."""
        self.fail("the gateway has ended the connection")

    # For the HTTP side

    @property
    def is_idle(self) -> bool:
        """Whether the client waits for nothing."""
        return not self._asked and (self._stream is None or self._stream.is_ended)

    async def take(self, frames: Sequence[Frame], *, takes_events: bool) -> Reply:
        """Hand messages to the relay, and get the reply that will have the answers."""
        self._check_open()
        asked = {frame.key: frame for frame in frames if frame.is_request and frame.key is not None}
        for key, frame in asked.items():
            if key in self._asked:
                why = "Another request with this id is under way."
                raise MessageRefusal(400, why, INVALID_REQUEST, frame.message["id"])
        reply = Reply(asked, takes_events=takes_events)
        for key, frame in asked.items():
            one = self._asked[key] = _Asked(frame.message["id"], find_token(frame), reply)
            if one.token is not None:
                self._tokens[one.token] = key
        for frame in frames:
            await self._inbox.put(frame.raw)
            if frame.method == CANCELLED:
                self._end_cancelled(make_key(frame.params.get("requestId")))
        return reply

    def follow(self) -> Reply:
        """The reply for what belongs to no request; a new one takes the place of the last."""
        self._check_open()
        if self._stream is not None:
            self._stream.end()
        self._stream = Reply((), takes_events=True)
        while self._kept:
            self._stream.add(self._kept.popleft().raw)
        return self._stream

    async def leave(self, reply: Reply) -> None:
        """The client does not wait for this reply any more: cancel what it asked for."""
        reply.end()
        for key in list(reply.open):
            asked = self._forget(key)
            if asked is not None and not self._is_closed:
                await self._inbox.put(write_cancellation(asked.id).raw)

    def fail(self, why: str) -> None:
        """End everything; requests that wait are answered with the reason."""
        if self._is_closed:
            return
        self._is_closed, self._why = True, why
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
        if asked.reply.takes_events and len(asked.reply.open) == 1:
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

    def _forget(self, key: str) -> _Asked | None:
        asked = self._asked.pop(key, None)
        if asked is not None and asked.token is not None:
            self._tokens.pop(asked.token, None)
        return asked

    def _tell(self, frame: Frame) -> None:
        if frame.method == PROGRESS:
            key = self._tokens.get(make_key(frame.params.get("progressToken")), "")
            if key in self._asked:
                self._asked[key].reply.add(frame.raw)
            return
        open_streams = [one.reply for one in self._asked.values() if one.reply.takes_events]
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
                self._inbox.put_if_room(refuse(lost.message["id"], INTERNAL_ERROR, why).raw)


def write_cancellation(id: Any) -> Frame:
    """Says that nobody waits for a request any more."""
    params = {"requestId": id, "reason": "the client has disconnected"}
    return write_frame({"jsonrpc": "2.0", "method": CANCELLED, "params": params})


def find_token(frame: Frame) -> str | None:
    """The key of the token that progress of a request will have."""
    meta = frame.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return make_key(token) if isinstance(token, str | int) else None
