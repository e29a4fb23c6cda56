"""The channel to all clients without a session: each request stands by itself, since 2026-07-28.

One relay and one server serve them all. Ids and progress tokens, of which several clients may use
the same, are replaced by ones of ours on the way in, and put back on the way out.
"""

from __future__ import annotations

import itertools
import logging
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
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.incoming.client_session import PROGRESS, write_cancellation
from amplifier_hooks.mcp.gateway.http.incoming.guard import MessageRefusal
from amplifier_hooks.mcp.gateway.http.incoming.inbox import Inbox
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply
from amplifier_hooks.mcp.gateway.http.mirrored_headers import list_mirrored
from amplifier_hooks.mcp.gateway.http.param_headers import ParamHeaders

logger = logging.getLogger(__name__)

SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
_TOKEN = "progressToken"
_METHOD_NOT_FOUND = -32601


@dataclass(frozen=True, slots=True)
class _Asked:
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
        self._asked: dict[str, _Asked] = {}
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
            await self._inbox.put(refuse(frame.message["id"], _METHOD_NOT_FOUND, why).raw)
        else:
            self._tell(frame)

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

    async def take(self, frame: Frame, *, takes_events: bool) -> Reply:
        """Hand a message to the relay, and get the reply that will have the answer."""
        if self._is_closed:
            why = f"{self._why}; try again"
            raise MessageRefusal(503, why, INVALID_REQUEST, frame.message.get("id"))
        if not frame.is_request:
            await self._inbox.put(frame.raw)
            return Reply((), takes_events=False)
        id = f"amplifier-{next(self._numbers)}"
        key = make_key(id)
        params, token = _replace_token(frame.params, id)
        reply = Reply({key}, takes_events=takes_events)
        self._asked[key] = _Asked(frame.message["id"], token, frame.method, reply)
        changed = {**frame.message, "id": id, **({"params": params} if params else {})}
        await self._inbox.put(write_frame(changed).raw)
        return reply

    def list_headers(self, frame: Frame) -> dict[str, str]:
        """The headers that must come with a message, and say the same."""
        return {**list_mirrored(frame), **self._params.list_headers(frame)}

    async def leave(self, reply: Reply) -> None:
        """A client does not wait any more: cancel what it asked for."""
        reply.end()
        for key in list(reply.open):
            if self._asked.pop(key, None) is not None and not self._is_closed:
                await self._inbox.put(write_cancellation(_read_key(key)).raw)

    def fail(self, why: str) -> None:
        """End everything; requests that wait are answered with the reason."""
        if self._is_closed:
            return
        self._is_closed, self._why = True, why
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

    def _learn(self, asked: _Asked, frame: Frame) -> None:
        """Note which arguments clients have to repeat in headers."""
        result = frame.message.get("result")
        tools = result.get("tools") if isinstance(result, dict) else None
        if asked.method == "tools/list" and isinstance(tools, list):
            self._params.learn(tools)

    def _tell(self, frame: Frame) -> None:
        meta = frame.params.get("_meta")
        subscription = meta.get(SUBSCRIPTION) if isinstance(meta, dict) else None
        if frame.method == PROGRESS:
            asked = self._asked.get(make_key(frame.params.get(_TOKEN)))
            params = {**frame.params, _TOKEN: asked.token} if asked else {}
        elif isinstance(meta, dict) and subscription is not None:
            asked = self._asked.get(make_key(subscription))
            params = {**frame.params, "_meta": {**meta, SUBSCRIPTION: asked.id}} if asked else {}
        else:
            self._tell_only_one(frame)
            return
        if asked is not None:  # else its client has left
            asked.reply.add(write_frame({**frame.message, "params": params}).raw)

    def _tell_only_one(self, frame: Frame) -> None:
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
