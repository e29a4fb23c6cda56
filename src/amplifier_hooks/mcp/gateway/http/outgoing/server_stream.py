"""The stream on which the server of a session says what belongs to no request."""

from __future__ import annotations

import asyncio

from amplifier_hooks.guards.mcp.frames import FrameError, read_frames
from amplifier_hooks.mcp.gateway.channel import ChannelError, ChannelNote
from amplifier_hooks.mcp.gateway.http.outgoing.conversation import Conversation
from amplifier_hooks.mcp.gateway.http.outgoing.exchange import Deliver, read_kind
from amplifier_hooks.mcp.gateway.http.outgoing.failures import WireError, describe_status
from amplifier_hooks.mcp.gateway.http.outgoing.wire import Wire
from amplifier_hooks.mcp.gateway.http.sse import KIND, EventError, EventReader

_NOT_OFFERED = frozenset({404, 405})


async def follow_server(wire: Wire, conversation: Conversation, deliver: Deliver) -> None:
    """Deliver what the server says of its own accord, for as long as it can be reached.

    Returns when the server offers no such stream. A broken one is opened again, and goes on after
    the last event if the server numbers them.
    """
    reader = EventReader()
    trial, is_said = 0, False
    while True:
        try:
            if not await _follow_once(wire, conversation, deliver, reader):
                return
            trial, is_said = 0, False
        except WireError as error:
            if not is_said:
                reason = str(error).partition(";")[0]
                await deliver(ChannelNote(f"{reason}; the stream of its messages is opened again"))
            trial, is_said = trial + 1, True
        reader.forget_rest()
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
