"""The guard of the page and its API: who a caller is, how often one may come, what browsers get."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import ceil, isfinite
from time import monotonic
from typing import Any

from amplifier_hooks.approvals.errors import StoreError
from amplifier_hooks.http_guard import (
    Head,
    Headers,
    HttpGuard,
    Message,
    Receive,
    Refusal,
    Scope,
    Send,
    read_head,
)
from amplifier_hooks.server.callers import CSRF, Access, Caller, identify_caller
from amplifier_hooks.server.logs import REQUEST_ID, make_error, note_problem

logger = logging.getLogger(__name__)

API = "/api/v1/"
METRICS = "/metrics"
LOGIN = f"{API}login"
# What answers although the database does not.
STORELESS = frozenset({f"{API}health", f"{API}ready", f"{API}openapi.json"})
PUBLIC = frozenset({LOGIN, *STORELESS})
NO_STORE = "The database of this server does not answer. Nothing was changed; try again."
RETRY_SECONDS = 2
METHODS = ("GET", "HEAD", "POST")
MAX_BODY = 2 * 1024 * 1024
JUDGE = f"{API}judge/"
MAX_JUDGED_BODY = 16 * 1024 * 1024
MAX_ANONYMOUS_BODY = 4 * 1024
CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; worker-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
_ALWAYS = {
    "content-security-policy": CONTENT_POLICY,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}
_MOST_PEERS = 10_000


@dataclass(slots=True)
class RateLimit:
    """So many requests at once, and so many a second after that, for each peer."""

    burst: float
    per_second: float
    clock: Callable[[], float] = monotonic
    _left: dict[str, tuple[float, float]] = field(default_factory=dict)

    def count(self, peer: str) -> int:
        """Count a request; 0 if it may go on, else after how many seconds to come again."""
        now = self.clock()
        left, since = self._left.pop(peer, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.per_second)
        allowed = left >= 1
        self._left[peer] = (left - 1 if allowed else left, now)
        if len(self._left) > _MOST_PEERS:
            # The peer that has been silent for longest is first, and most likely full again.
            del self._left[next(iter(self._left))]
        return 0 if allowed else max(1, ceil((1 - left) / self.per_second))


@dataclass
class Guard(HttpGuard):
    """Around everything, for requests and WebSocket handshakes alike."""

    access: Access
    uses_tls: bool = False
    behind_proxy: bool = False
    store_is_lost: Callable[[], bool] = bool
    """Whether the store has not answered for so long that nobody should wait for it."""
    logins: RateLimit = field(default_factory=lambda: RateLimit(10, 10 / 60))
    requests: RateLimit = field(default_factory=lambda: RateLimit(10_000, 1000))

    def read_head(self, scope: Scope) -> Head:
        """The head of a request; behind a proxy, the peer is what the proxy saw."""
        head = read_head(scope)
        if self.behind_proxy and (forwarded := head.list("x-forwarded-for")):
            # The last entry is what our proxy saw; whatever stands before it, anybody can write.
            return replace(head, peer=forwarded[-1].rpartition(",")[2].strip())
        return head

    def is_public(self, head: Head) -> bool:
        """Whether it is a file of the page."""
        return not is_api(head)

    async def authenticate(self, head: Head, scope: Scope) -> None:
        """Refusal unless the caller is known, and does not come too often."""
        self._check_rate(head)
        if is_api(head) and head.path not in STORELESS and self.store_is_lost():
            raise Refusal(503, NO_STORE, code="unavailable", retry_after=RETRY_SECONDS)
        if not is_api(head) or head.path in PUBLIC:
            return
        try:
            caller = await identify_caller(self.access, head)
        except StoreError as error:
            logger.warning("whose request it is could not be looked up: %s", error)
            raise Refusal(503, NO_STORE, code="unavailable", retry_after=RETRY_SECONDS) from error
        if caller is None:
            why = "Log in, or send a bearer token that is valid."
            raise Refusal(401, why, code="credential")
        _check_browser(head, caller)
        scope.setdefault("state", {})["caller"] = caller

    def limit_body(self, head: Head, scope: Scope) -> int:
        """Little for who is not known; a whole conversation for who has one judged."""
        caller = scope.get("state", {}).get("caller")
        if not isinstance(caller, Caller):
            return MAX_ANONYMOUS_BODY
        is_judged = head.path.startswith(JUDGE) and caller.may("judge")
        return MAX_JUDGED_BODY if is_judged else MAX_BODY

    def check_body(self, head: Head, body: bytes) -> None:
        """Refuse what is not JSON that everything else can keep."""
        if changes(head):
            check_json(body)

    def list_headers(self, head: Head) -> Headers:
        """What a browser must not do with an answer."""
        wanted = dict(_ALWAYS)
        if is_api(head):
            wanted["cache-control"] = "no-store"
        if self.uses_tls:
            wanted["strict-transport-security"] = "max-age=31536000"
        return [(name.encode(), value.encode()) for name, value in wanted.items()]

    def render(self, refusal: Refusal) -> bytes:
        """An error of the API, with the id of its request."""
        return json.dumps({"error": make_error(refusal.code, refusal.message)}).encode()

    async def refuse(self, head: Head, scope: Scope, send: Send, refusal: Refusal) -> None:
        """Answer, and remember why for the log."""
        note_problem(scope, refusal.status, refusal.code, refusal.message)
        await super().refuse(head, scope, send, refusal)

    def _check_rate(self, head: Head) -> None:
        wait = self.requests.count(head.peer)
        if not wait and head.path == LOGIN and changes(head):
            wait = self.logins.count(head.peer)
        if wait:
            why = f"Too many requests; try again in {wait} s."
            raise Refusal(429, why, code="too_many", retry_after=wait)


def is_api(head: Head) -> bool:
    """Whether it is for the API or for figures, not for a file of the page."""
    return head.path.startswith("/api/") or head.path in ("/api", METRICS)


def changes(head: Head) -> bool:
    """Whether it may change something."""
    return head.kind == "http" and head.method == "POST"


def _check_browser(head: Head, caller: Caller) -> None:
    """A cookie is sent by the browser itself, whoever asks: so our own page must be behind it.

    To read, too: another program on the same host is sent the cookie, whatever its port is.
    """
    if caller.via != "web":
        return
    if head.kind == "websocket" and not head.list("origin"):
        raise Refusal(403, "A WebSocket without Origin needs a bearer token.", code="origin")
    if changes(head) and not head.list("origin"):
        raise Refusal(403, "A POST with a cookie needs the Origin of our own page.", code="origin")
    if head.kind == "http" and not caller.proves(head.get(CSRF)):
        why = "X-Amplifier-CSRF is missing or wrong; the answer to the login has it. Log in."
        raise Refusal(403 if changes(head) else 401, why, code="csrf")


def check_json(body: bytes) -> None:
    """Refuse what is not JSON, or what others read otherwise: NaN, a key twice, endless nesting."""
    if not body:
        return
    try:
        json.loads(
            body,
            parse_constant=_refuse_constant,
            parse_float=_parse_finite,
            object_pairs_hook=_refuse_repetition,
        )
    except RecursionError:
        raise Refusal(400, "The body is nested too deeply.", code="json") from None
    except ValueError as error:
        raise Refusal(400, f"The body is not JSON: {error}", code="json") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")


def _refuse_repetition(pairs: list[tuple[str, Any]]) -> None:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("an object has a key twice")


def _parse_finite(text: str) -> float:
    if isfinite(number := float(text)):
        return number
    raise ValueError("a number is too large")


HEADER = "x-request-id"
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_LONGEST_LOGGED = 200
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
            logger.exception("%s %s failed", head.method, head.path[:_LONGEST_LOGGED])
            if answered.status and head.kind == "websocket":
                raise
            if not answered.status:
                await self.guard.refuse(head, scope, answered.send, _FAILURE)
            # Else half of an answer was sent: the server cuts the connection, which says so.
        finally:
            _write_log(head, scope, answered.status, monotonic() - began)
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


def _write_log(head: Head, scope: Scope, status: int, seconds: float) -> None:
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
        "path": head.path[:_LONGEST_LOGGED],
        "status": status,
        "ms": round(seconds * 1000),
        "peer": head.peer[:_LONGEST_LOGGED],
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
