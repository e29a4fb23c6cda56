"""Around everything: each request has an id, and what goes wrong with it is in the log."""

from __future__ import annotations

import logging
import re
import secrets
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

from amplifier_hooks.http_guard import Head, Message, Receive, Refusal, Scope, Send
from amplifier_hooks.server.callers import Caller
from amplifier_hooks.server.guard import Guard
from amplifier_hooks.server.logs import REQUEST_ID

logger = logging.getLogger(__name__)

HEADER = "x-request-id"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LONGEST = 200
_FAILURE = Refusal(500, "The server failed; its log says why.", code="failure")
_STARTS = ("http.response.start", "websocket.accept", "websocket.http.response.start")


@dataclass(slots=True)
class RequestLog:
    """Gives a request its id, answers 500 if the app fails, and writes down how it ended."""

    guard: Guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.guard(scope, receive, send)
            return
        head = self.guard.read_head(scope)
        id = choose_id(head)
        before = REQUEST_ID.set(id)
        answered = _Answer(send, (HEADER.encode(), id.encode()))
        began = monotonic()
        try:
            await self.guard(scope, receive, answered.send)
        except Exception:
            logger.exception("%s %s failed", head.method, head.path[:_LONGEST])
            if answered.status and head.kind == "websocket":
                raise
            if not answered.status:
                await self.guard.refuse(head, scope, answered.send, _FAILURE)
            # Else half of an answer was sent: the server cuts the connection, which says so.
        finally:
            _write(head, scope, answered.status, monotonic() - began)
            REQUEST_ID.reset(before)


@dataclass(slots=True)
class _Answer:
    """Sends the answer with the id of its request, and remembers the status."""

    pass_on: Send
    header: tuple[bytes, bytes]
    status: int = field(default=0, init=False)

    async def send(self, message: Message) -> None:
        if message["type"] in _STARTS:
            self.status = message.get("status", 101)
            message = {**message, "headers": [*message.get("headers", []), self.header]}
        elif message["type"] == "websocket.close" and not self.status:
            self.status = 403
        await self.pass_on(message)


def choose_id(head: Head) -> str:
    """The id that the client gave its request, if it is a short name; else a new one."""
    given = head.get(HEADER)
    return given if given is not None and _ID.fullmatch(given) else secrets.token_hex(8)


def _write(head: Head, scope: Scope, status: int, seconds: float) -> None:
    """Failures as warnings, refusals as information, the rest for those who debug."""
    level = logging.DEBUG
    if status >= 500:
        level = logging.WARNING
    elif status >= 400:
        level = logging.INFO
    if not logger.isEnabledFor(level):
        return
    state = scope.get("state", {})
    caller = state.get("caller")
    facts: dict[str, Any] = {
        "method": head.method if head.kind == "http" else "WEBSOCKET",
        "path": head.path[:_LONGEST],
        "status": status,
        "ms": round(seconds * 1000),
        "peer": head.peer[:_LONGEST],
        "caller": caller.name if isinstance(caller, Caller) else "",
        "problem": state.get("problem", ""),
    }
    logger.log(
        level,
        "%(method)s %(path)s answered %(status)s after %(ms)s ms, peer %(peer)s, caller "
        "%(caller)s: %(problem)s",
        {key: "-" if value == "" else value for key, value in facts.items()},
        extra={"facts": facts},
    )
