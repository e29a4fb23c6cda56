"""The guard itself: plain ASGI around everything, for requests and WebSocket handshakes alike."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from amplifier_apps.web.callers import CSRF, Access, Caller, identify_caller
from amplifier_apps.web.guard.body import (
    MAX_ANONYMOUS_BODY,
    MAX_BODY,
    check_json,
    read_body,
    refuse_size,
    replay,
)
from amplifier_apps.web.guard.head import API, Head, read_head
from amplifier_apps.web.guard.head_rules import HeadRules
from amplifier_apps.web.guard.rates import RateLimit
from amplifier_apps.web.guard.refusal import Receive, Refusal, Scope, Send, send_refusal
from amplifier_apps.web.guard.response_headers import add_headers, list_headers
from amplifier_foundation.stores.errors import StoreError

App = Callable[[Scope, Receive, Send], Awaitable[None]]
LOGIN = f"{API}login"
PUBLIC = frozenset({LOGIN, f"{API}health", f"{API}openapi.json"})


@dataclass(slots=True)
class Guard:
    """Lets through what is addressed to us, by somebody we know, in a form that we can read."""

    app: App
    rules: HeadRules
    access: Access
    uses_tls: bool = False
    behind_proxy: bool = False
    logins: RateLimit = field(default_factory=lambda: RateLimit(10, 10 / 60))
    requests: RateLimit = field(default_factory=lambda: RateLimit(10_000, 1000))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        head = read_head(scope, behind_proxy=self.behind_proxy)
        extra = list_headers(is_api=head.is_api, uses_tls=self.uses_tls)
        refusal = self.rules.find_refusal(head) or self._check_rate(head)
        if refusal is None and head.is_api and head.path not in PUBLIC:
            refusal = await self._check_caller(head, scope)
        passed: Receive | None = receive
        if refusal is None and head.kind == "http":
            passed, refusal = await self._take_body(head, receive)
        if refusal is not None:
            await send_refusal(scope, send, refusal, extra)
        elif head.kind == "websocket":
            await self.app(scope, receive, send)
        elif passed is not None:
            await self.app(scope, passed, add_headers(send, extra))

    def _check_rate(self, head: Head) -> Refusal | None:
        wait = self.requests.count(head.peer)
        if not wait and head.path == LOGIN and head.changes:
            wait = self.logins.count(head.peer)
        if not wait:
            return None
        return Refusal(429, "too_many", f"Too many requests; try again in {wait} s.", wait)

    async def _check_caller(self, head: Head, scope: Scope) -> Refusal | None:
        try:
            caller = await identify_caller(
                self.access, head.list("authorization"), head.list("cookie")
            )
        except StoreError as error:
            return Refusal(503, "unavailable", str(error), 1)
        if caller is None:
            return Refusal(401, "credential", "Log in, or send a bearer token that is valid.")
        scope.setdefault("state", {})["caller"] = caller
        return _check_browser(head, caller)

    async def _take_body(
        self, head: Head, receive: Receive
    ) -> tuple[Receive | None, Refusal | None]:
        """The receive to go on with, None if the client is gone, or a refusal."""
        limit = MAX_ANONYMOUS_BODY if head.path in PUBLIC or not head.is_api else MAX_BODY
        stated = head.get("content-length") or "0"
        if not stated.isdecimal() or len(stated) > 12 or int(stated) > limit:
            return None, refuse_size(limit)
        body = await read_body(receive, limit)
        if isinstance(body, Refusal):
            return None, body
        if body is None:
            return None, None
        if head.changes and (refusal := check_json(body)):
            return None, refusal
        return replay(body, receive), None


def _check_browser(head: Head, caller: Caller) -> Refusal | None:
    """A cookie is sent by the browser itself, whoever asks: so our own page must be behind it.

    To read, too: another program on the same host is sent the cookie, whatever its port is.
    """
    if caller.via != "web":
        return None
    if head.kind == "websocket" and not head.list("origin"):
        return Refusal(403, "origin", "A WebSocket without Origin needs a bearer token.")
    if head.changes and not head.list("origin"):
        return Refusal(403, "origin", "A POST with a cookie needs the Origin of our own page.")
    if head.kind == "http" and not caller.proves(head.get(CSRF)):
        message = "X-Amplifier-CSRF is missing or wrong; the answer to the login has it. Log in."
        return Refusal(403 if head.changes else 401, "csrf", message)
    return None
