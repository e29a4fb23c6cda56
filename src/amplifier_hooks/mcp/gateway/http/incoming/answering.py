"""Writing a reply: as JSON if the answer is there soon and alone, else as a stream of events."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping

from amplifier_core.utils import cancel_and_wait
from amplifier_hooks.http_guard import Receive, Send
from amplifier_hooks.mcp.gateway.http.incoming.reply import Reply
from amplifier_hooks.mcp.gateway.http.sse import KIND, PING, write_event

SOON = 1.0
PING_SECONDS = 15.0
SLOW_SECONDS = 60.0
"""A client that reads nothing for so long has gone."""

_STATUS = {-32601: 404, -32700: 400, -32600: 400, -32020: 400, -32021: 400, -32022: 400}
"""Of errors without a session, as the protocol wants them since 2026-07-28."""


class Answer:
    """One HTTP answer on its way."""

    def __init__(
        self,
        reply: Reply,
        send: Send,
        headers: Mapping[str, str],
        *,
        takes_json: bool,
        modern: bool,
    ) -> None:
        self._reply = reply
        self._send = send
        self._headers = headers
        self._takes_json = takes_json
        self._modern = modern

    async def write(self, receive: Receive) -> bool:
        """Whether all of it was written; False if the client left before."""
        writing = asyncio.create_task(self._write())
        leaving = asyncio.create_task(_wait_for_end(receive))
        try:
            await asyncio.wait({writing, leaving}, return_when=asyncio.FIRST_COMPLETED)
            return writing.done() and writing.result()
        finally:
            await cancel_and_wait(leaving)
            await cancel_and_wait(writing)

    async def _write(self) -> bool:
        try:
            if self._takes_json and await self._write_json():
                return True
            await self._write_events()
        except TimeoutError:
            return False
        return not self._reply.is_overrun

    async def _write_json(self) -> bool:
        """Whether it was one answer that came soon, or the client takes nothing else."""
        reply = self._reply
        if reply.takes_events:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(SOON):
                    await reply.wait()
            if not reply.is_lone_answer:
                return False
        await reply.wait_for_end()
        messages = list(iter(reply.take, None))
        if not messages:  # there was too much of it
            raise TimeoutError
        body = messages[0] if len(messages) == 1 else b"[" + b",".join(messages) + b"]"
        status = _find_status(body) if self._modern and len(messages) == 1 else 200
        await self._begin(status, "application/json", {"content-length": str(len(body))})
        await self._put(body, more=False)
        return True

    async def _write_events(self) -> None:
        more = {"cache-control": "no-cache, no-transform", "x-accel-buffering": "no"}
        await self._begin(200, KIND, more)
        await self._put(PING)
        while not self._reply.is_taken:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PING_SECONDS):
                    await self._reply.wait()
            raw = self._reply.take()
            await self._put(PING if raw is None else write_event(raw))
        await self._put(b"", more=False)

    async def _begin(self, status: int, kind: str, more: Mapping[str, str]) -> None:
        headers = {"content-type": kind, "cache-control": "no-store", **more, **self._headers}
        encoded = [
            (key.lower().encode(), value.encode("latin-1")) for key, value in headers.items()
        ]
        await self._send({"type": "http.response.start", "status": status, "headers": encoded})

    async def _put(self, body: bytes, *, more: bool = True) -> None:
        async with asyncio.timeout(SLOW_SECONDS):
            await self._send({"type": "http.response.body", "body": body, "more_body": more})


async def _wait_for_end(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _find_status(body: bytes) -> int:
    error = json.loads(body).get("error")
    code = error.get("code") if isinstance(error, dict) else None
    return _STATUS.get(code, 200) if isinstance(code, int) else 200
