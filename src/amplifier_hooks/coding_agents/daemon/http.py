"""Events by HTTP, for agents that can send them so: on this machine only, and with a token."""

from __future__ import annotations

import contextlib
import logging
import time
from typing import TYPE_CHECKING

from amplifier_core.errors import ModuleLoadError
from amplifier_hooks.coding_agents.daemon.dispatcher import Dispatcher, Interrupted
from amplifier_hooks.coding_agents.daemon.folder import HttpPort
from amplifier_hooks.coding_agents.daemon.protocol import Request, Response
from amplifier_hooks.coding_agents.dialects import DIALECTS
from amplifier_hooks.coding_agents.dialects.writing import write_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import Verdict
from amplifier_hooks.http_guard import (
    Door,
    Head,
    HttpGuard,
    Receive,
    Refusal,
    Scope,
    Send,
    list_own_hosts,
    read_head,
)
from amplifier_hooks.modules.installation import require

if TYPE_CHECKING:
    from amplifier_hooks.http_guard.server import Listener

logger = logging.getLogger(__name__)

AGENT = "claude"
MARK = "HTTP"
"""The mark of a request that came this way: there is no process that could start us."""
SECONDS_HEADER = "x-amplifier-seconds"
BUNDLE_HEADER = "x-amplifier-bundle"
_ADDRESS = "127.0.0.1"
_NOT_BY_HTTP = frozenset({"SessionStart", "Setup"})
_DEFAULT_SECONDS = 30.0
_LONGEST_SECONDS = 86400.0
_MOST_CONNECTIONS = 128
_LARGEST_EVENT = 64 * 1024 * 1024


class HttpServer:
    """Takes `POST /claude/EVENT` on one port; a connection may carry any number of requests."""

    def __init__(self, port: HttpPort, dispatcher: Dispatcher) -> None:
        door = Door(
            hosts=list_own_hosts(_ADDRESS, port.port),
            token=port.token,
            body_limit=_LARGEST_EVENT,
        )
        self._guard = EventGuard(EventApp(dispatcher), door)
        self._port = port
        self._listener: Listener | None = None
        self._problem = ""

    async def open(self) -> None:
        """Listen; without the port the process still serves the clients at its socket."""
        try:
            require("uvicorn", "An agent that sends events by HTTP", "cli")
            from amplifier_hooks.http_guard.server import GuardedConfig, Listener, bind

            listening = bind(_ADDRESS, self._port.port)
            config = GuardedConfig(
                self._guard,
                most_connections=_MOST_CONNECTIONS,
                timeout_keep_alive=int(_LONGEST_SECONDS),
            )
            self._listener = Listener(config)
            await self._listener.start(listening)
        except (OSError, ModuleLoadError) as failure:
            self._problem = str(failure)
            logger.error("Nothing is served by HTTP: %s", failure)  # noqa: TRY400

    def close(self) -> None:
        """Listen no more, and hang up on who asks nothing."""
        if self._listener is not None:
            self._listener.close()

    async def finish(self, grace: float) -> None:
        """Wait until what was asked is answered."""
        if self._listener is not None:
            await self._listener.finish(grace)

    def describe(self) -> dict[str, object]:
        """For the status of the process; the token is nobody's business."""
        return {"port": self._port.port, "listening": not self._problem, "problem": self._problem}


class EventGuard(HttpGuard):
    """Refuses at a gate with a denial: after an error, the agent would go on."""

    async def authenticate(self, head: Head, scope: Scope) -> None:
        """Refusal unless this is an event, from somebody who knows the token."""
        await super().authenticate(head, scope)
        self.check_method(head)
        scope.setdefault("state", {})["event"] = _read_event(head)
        _read_seconds(head)

    async def refuse(self, head: Head, scope: Scope, send: Send, refusal: Refusal) -> None:
        """Deny what a caller with the token asked; answer others with the status."""
        event = scope.get("state", {}).get("event", "")
        sentence = f"amplifier: this was not judged: {refusal.message}"
        status, body = _translate(event, Response(2, b"", sentence.encode()))
        if status == 200:
            await _send(send, status, body, [(b"connection", b"close")])
        else:
            await super().refuse(head, scope, send, refusal)


class EventApp:
    """Has events judged."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = read_head(scope)
        asked = Request(
            agent=AGENT,
            event=_read_event(head),
            payload=(await receive())["body"],  # the guard has read all of it
            seconds=_read_seconds(head),
            bundle=head.get(BUNDLE_HEADER) or "",
            marks=frozenset({MARK}),
        )
        try:
            response = await self._dispatcher.answer(asked, time.monotonic())
        except Interrupted:
            why = b"amplifier: this was not judged: the process is replaced"
            response = Response(2, b"", why)
        await _send(send, *_translate(asked.event, response))


async def _send(
    send: Send, status: int, body: bytes, more: list[tuple[bytes, bytes]] | None = None
) -> None:
    kind = b"application/json" if status == 200 else b"text/plain; charset=utf-8"
    length = (b"content-length", str(len(body)).encode())
    headers = [(b"content-type", kind), length, *(more or [])]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _translate(event: str, response: Response) -> tuple[int, bytes]:
    """An answer without an exit code: what has one that is not 0 must be said in words."""
    if response.code == 0:
        return 200, response.stdout
    reason = response.stderr.decode("utf-8", "replace").strip() or "amplifier: not judged"
    dialect = DIALECTS[AGENT]
    if event in dialect.events and dialect.events[event].gate:
        incoming = Incoming(event="", data={}, native=event, session_id="")
        denial = write_reply(dialect, incoming, Verdict(decision="deny", reason=reason))
        return 200, denial.stdout.encode() + b"\n"
    return 500, reason.encode("utf-8", "replace")


def _read_event(head: Head) -> str:
    agent, _, event = head.path.removeprefix("/").partition("/")
    if agent != AGENT or event not in DIALECTS[AGENT].events or event in _NOT_BY_HTTP:
        raise Refusal(404, f"There is no event at {head.path[:100]!r}")
    return event


def _read_seconds(head: Head) -> float:
    text = head.get(SECONDS_HEADER) or str(_DEFAULT_SECONDS)
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) <= _LONGEST_SECONDS:
            return seconds
    raise Refusal(400, f"{SECONDS_HEADER} must be a number of seconds, not {text[:40]!r}")
