"""Tells a client that waits for a person, so that it does not give up."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from amplifier_hooks.guards.mcp.frames import Frame, write_frame
from amplifier_hooks.mcp.gateway.pending import Pending

FIRST, EVERY = 2.0, 5.0
"""Seconds until the client is told, and then until the next time."""

_STEP = 1e-6
"""Progress has to grow, and the server's own begins at nothing."""


class Progress:
    """One request of a client that asked to be told how far it is."""

    def __init__(self, pending: Pending, name: str, send: Callable[[Frame], None]) -> None:
        self._pending = pending
        self._name = name
        self._send = send
        self._count = 0
        self._timer: asyncio.TimerHandle | None = None
        self._token = _find_token(pending.frame)

    def start(self) -> None:
        """Tell the client from now on, as long as it waits for hooks or for a person."""
        if self._token is not None:
            self._timer = asyncio.get_running_loop().call_later(FIRST, self._tell)

    def stop(self) -> None:
        """The request is answered."""
        if self._timer is not None:
            self._timer.cancel()

    def _tell(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(EVERY, self._tell)
        if self._pending.is_forwarded and not _has_answer(self._pending):
            return  # now it is for the server to say
        self._count += 1
        params = {
            "progressToken": self._token,
            "progress": self._count * _STEP,
            "message": f"Waiting for approval of {self._name}: see `amplifier approvals`",
        }
        self._send(
            write_frame({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        )


def _has_answer(pending: Pending) -> bool:
    return pending.response is not None and pending.response.done()


def _find_token(frame: Frame) -> Any:
    meta = frame.params.get("_meta")
    token = meta.get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) else None
