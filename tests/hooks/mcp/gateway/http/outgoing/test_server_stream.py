"""The stream on which the server of a session says what belongs to no request."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.outgoing.address import check_address
from amplifier_hooks.mcp.gateway.http.outgoing.conversation import Conversation
from amplifier_hooks.mcp.gateway.http.outgoing.server_stream import follow_server
from amplifier_hooks.mcp.gateway.http.outgoing.wire import Wire
from tests.hooks.mcp.gateway.http.raw_server import STREAM, Handler, Request, run_raw

CHANGE = b'{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'


async def _follow(handler: Handler, count: int = -1) -> tuple[list[str], list[Request]]:
    """What is delivered: until it ends by itself, or until there are so many."""
    delivered: list[str] = []
    enough = asyncio.Event()

    async def deliver(found: bytes | ChannelError) -> None:
        delivered.append(found.decode() if isinstance(found, bytes) else f"note: {found}")
        if len(delivered) == count:
            enough.set()

    async with run_raw(handler) as server:
        wire = Wire(check_address(server.url, {}))
        following = asyncio.create_task(follow_server(wire, Conversation(), deliver))
        waiting = asyncio.create_task(enough.wait())
        async with asyncio.timeout(30):
            await asyncio.wait({following, waiting}, return_when=asyncio.FIRST_COMPLETED)
        assert following.done() == (count == -1)
        for task in (following, waiting):
            task.cancel()
        await asyncio.gather(following, waiting, return_exceptions=True)
        await wire.close()
    return delivered, server.requests


@pytest.mark.parametrize("status", [202, 204, 404, 405])
async def test_a_server_need_not_offer_it(status: int):
    """And nobody is bothered with that."""
    assert (await _follow(lambda request: request.answer(status)))[0] == []


@pytest.mark.parametrize(
    ("status", "kind", "reason"),
    [(401, "", "--header-env"), (400, "", "answered 400"), (200, "text/html", "answered 200")],
)
async def test_a_refusal_is_said_once(status: int, kind: str, reason: str):
    """The calls may still work."""
    delivered, requests = await _follow(
        lambda request: request.answer(status, b"x", Content_Type=kind)
    )
    assert len(requests) == 1
    assert reason in delivered[0]
    assert "nothing but answers comes" in delivered[0]


async def test_a_stream_that_ends_is_opened_again_after_the_last_event():
    """After the time that the server named."""

    async def handle(request: Request) -> None:
        number = int(request.headers.get("last-event-id", 0)) + 1
        await request.write(STREAM, b"retry: 1\nid: %d\ndata: " % number, CHANGE, b"\n\ndata: {")

    delivered, requests = await _follow(handle, 3)
    assert delivered == [CHANGE.decode()] * 3
    assert [one.headers.get("last-event-id") for one in requests[:3]] == [None, "1", "2"]
    assert requests[0].headers["accept"] == "text/event-stream"


async def test_what_cannot_be_read_is_said_and_the_rest_goes_on():
    """One bad event does not end the stream."""

    async def handle(request: Request) -> None:
        await request.write(
            STREAM, b"data: rubbish\n\nevent: x\ndata: y\n\ndata: ", CHANGE, b"\n\n"
        )
        await asyncio.Event().wait()

    delivered, _ = await _follow(handle, 2)
    assert "not JSON" in delivered[0]
    assert delivered[1] == CHANGE.decode()


async def test_a_server_that_fails_is_tried_again_and_said_once():
    """Until it is back."""
    tries = 0

    async def handle(request: Request) -> None:
        nonlocal tries
        tries += 1
        if tries == 1:
            await request.write(STREAM, b"retry: 1\ndata: ", CHANGE, b"\n\n")
        elif tries < 5:
            await request.answer(503)
        else:
            await request.write(STREAM, b"data: ", CHANGE, b"\n\n")
            await asyncio.Event().wait()

    delivered, _ = await _follow(handle, 3)
    assert [one.startswith("note: ") for one in delivered] == [False, True, False]
    assert "answered 503" in delivered[1]
