"""One connection of a client: its question, a sign of life each second, and the answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import time

from amplifier_hooks.coding_agents.client.client import VERSION, check_peer
from amplifier_hooks.coding_agents.daemon import wire
from amplifier_hooks.coding_agents.daemon.control import Controls
from amplifier_hooks.coding_agents.daemon.desk import Desk, Interrupted
from amplifier_hooks.coding_agents.daemon.freshness import Freshness
from amplifier_hooks.coding_agents.daemon.request import Request, Response

logger = logging.getLogger(__name__)

_BEAT_SECONDS = 1.0
_HEAD_SECONDS = 30.0
_PIECE = 262144


class Exchange:
    """Serves connections, one call for each."""

    def __init__(self, desk: Desk, controls: Controls, freshness: Freshness) -> None:
        self._desk = desk
        self._controls = controls
        self._freshness = freshness

    async def serve(self, line: socket.socket) -> None:
        """Read one question from the connection and answer it; a client that leaves is no error."""
        since, gone = time.monotonic(), asyncio.Event()
        beats = asyncio.create_task(_send_beats(line, gone))
        try:
            answer = await self._answer(line, since, gone)
        except (OSError, EOFError, TimeoutError) as failure:
            logger.debug("A client left: %s", failure)
            return
        finally:
            beats.cancel()
        with contextlib.suppress(OSError, TimeoutError):
            async with asyncio.timeout(_HEAD_SECONDS):
                await asyncio.get_running_loop().sock_sendall(line, answer)

    async def refuse(self, line: socket.socket, why: str) -> None:
        """Answer without a look at the question, but read it: the client first writes all of it."""
        with contextlib.suppress(OSError, EOFError, TimeoutError, ValueError):
            await _read_all(line, time.monotonic())
            sentence = f"amplifier: this was not judged: {why}\n".encode()
            answer = wire.write_answer(Response(2, b"", sentence))
            await asyncio.get_running_loop().sock_sendall(line, answer)

    async def _answer(self, line: socket.socket, since: float, gone: asyncio.Event) -> bytes:
        with self._desk.lifetime.hold(use=False):
            try:
                question = wire.read_question(await _read_all(line, since), check_peer(line))
            except ValueError as failure:
                sentence = f"amplifier: this was not judged: {failure}\n".encode(errors="replace")
                return wire.write_answer(Response(2, b"", sentence))
            if question.request.agent == wire.CONTROL:
                return wire.write_answer(self._controls.answer(question.request.event))
            return await self._judge(question.version, question.request, since, gone)

    async def _judge(
        self, version: str, request: Request, since: float, gone: asyncio.Event
    ) -> bytes:
        if why := self._freshness.find_reason_to_restart(version):
            self._desk.lifetime.end(why)
            return wire.RESTART
        if version != VERSION:
            return wire.write_answer(_refuse_version(version))
        try:
            return wire.write_answer(await self._desk.answer(request, since, gone))
        except Interrupted:
            return wire.RESTART


def _refuse_version(version: str) -> Response:
    text = (
        f"amplifier: this was not judged: the installed command is of version {version}, the "
        f"resident process of version {VERSION}; install the guard again\n"
    )
    return Response(2, b"", text.encode(errors="replace"))


async def _read_all(line: socket.socket, since: float) -> bytes:
    """All that the client writes; ValueError if that is too much, after the last byte of it."""
    loop = asyncio.get_running_loop()
    received = bytearray()
    patience: float | None = None
    size = 0
    async with asyncio.timeout_at(loop.time() + _HEAD_SECONDS) as limit:
        while piece := await loop.sock_recv(line, _PIECE):
            size += len(piece)
            if len(received) <= wire.LONGEST_PAYLOAD + wire.LONGEST_HEAD:
                received += piece
            if patience is None and (
                patience := wire.read_patience(bytes(received[: wire.LONGEST_HEAD]))
            ):
                limit.reschedule(loop.time() + patience - (time.monotonic() - since))
    if size > wire.LONGEST_PAYLOAD:
        raise ValueError(f"the event has {size} bytes; at most {wire.LONGEST_PAYLOAD} are read")
    if not size:
        raise EOFError("it asked nothing")
    return bytes(received)


async def _send_beats(line: socket.socket, gone: asyncio.Event) -> None:
    """Show the client that its question is being worked on, and notice when it has left."""
    try:
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            with contextlib.suppress(BlockingIOError):  # it will have read the earlier ones first
                line.send(wire.BEAT)
    except OSError:
        gone.set()
