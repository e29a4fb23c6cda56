"""The decisions about one request: plain ASGI, without a server."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_hooks.machine.http import is_loopback

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

MAX_HEAD = 32 * 1024
MAX_HEADERS = 100
BODY_SECONDS = 30.0
SEND_SECONDS = 60.0
"""A client that reads nothing of an answer for so long is given up."""

_LONGEST_TOKEN = 4096
_RETRY_SECONDS = 5
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_WILDCARDS = ("0.0.0.0", "::", "[::]", "")
_ONCE = ("host", "authorization", "content-type", "content-encoding", "origin", "sec-fetch-site")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_FRAMES = frozenset({"iframe", "frame", "embed", "object", "fencedframe"})
_PREFETCH = ("sec-purpose", "purpose", "x-purpose", "x-moz")


class Refusal(AmplifierError):
    """Why a request goes no further: a status, a sentence for people, a code for programs."""

    def __init__(
        self, status: int, message: str, *, code: str = "refused", retry_after: int = 0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Door:
    """What one listener accepts."""

    hosts: frozenset[str]
    """Values of `Host`, compared exactly."""
    names: frozenset[str] = frozenset()
    """Further names, which come with any port."""
    origins: frozenset[str] = frozenset()
    """Values of `Origin` that are the listener itself; none for one that has no pages."""
    pages: frozenset[str] = frozenset()
    """Origins of other sites whose pages may send requests."""
    methods: tuple[str, ...] = ("POST",)
    path: str = ""
    """The only path that there is; empty if the application has several."""
    token: str = field(default="", repr=False)
    """What must come as `Authorization: Bearer …`; empty if the listener asks otherwise, or not."""
    body_limit: int = 1024 * 1024
    any_own_address: bool = False
    """Whether the address on which a connection arrived is accepted as `Host` (for wildcards)."""


def list_own_hosts(host: str, port: int, default_port: int = 80) -> frozenset[str]:
    """The values of `Host` for an address to listen on; loopback has three names."""
    names = set() if host in _WILDCARDS else {bracket(host)}
    if is_loopback(host) or host in _WILDCARDS:
        names.update(_LOOPBACK)
    found = {f"{name}:{port}" for name in names}
    return frozenset(found | names if port == default_port else found)


def is_wildcard(host: str) -> bool:
    """Whether listening there means all addresses of the machine."""
    return host in _WILDCARDS


def bracket(host: str) -> str:
    """A host as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


@dataclass(frozen=True, slots=True)
class Head:
    """Method, path and headers of a request or handshake; every value of a header is kept."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    kind: str = "http"
    peer: str = ""
    version: str = "1.1"
    own_address: str = ""
    """Address and port on which it arrived."""
    target: str = ""
    """Path and query as they were sent."""

    def list(self, name: str) -> list[str]:
        """All values of a header."""
        return [value for key, value in self.headers if key == name.lower()]

    def get(self, name: str) -> str | None:
        """The value of a header; several are joined, which no exact comparison accepts."""
        found = self.list(name)
        return ", ".join(found) if found else None

    def accepts(self, kind: str) -> bool:
        """Whether the client takes an answer of this kind; all kinds, if it does not say."""
        wanted = self.get("accept")
        if wanted is None:
            return True
        named = {one.partition(";")[0].strip().lower() for one in wanted.split(",")}
        return bool(named & {kind, "*/*", f"{kind.partition('/')[0]}/*"})

    @property
    def has_body(self) -> bool:
        """Whether a body was announced."""
        length = self.get("content-length") or "0"
        return length.strip("0") != "" or bool(self.list("transfer-encoding"))


def read_head(scope: Scope) -> Head:
    """The head of a request or handshake."""
    server = scope.get("server") or ("", None)
    return Head(
        method=scope.get("method", "GET"),
        path=scope["path"],
        headers=tuple(
            (key.decode("latin-1").lower(), value.decode("latin-1"))
            for key, value in scope["headers"]
        ),
        kind=scope["type"],
        peer=(scope.get("client") or ("",))[0],
        version=scope.get("http_version", "1.1"),
        own_address=f"{bracket(server[0])}:{server[1]}",
        target=(scope.get("raw_path", b"") + scope.get("query_string", b"")).decode("latin-1"),
    )


def check_form(head: Head) -> None:
    """Refuse what two readers could understand differently, and heads that are too large."""
    size = len(head.target) + sum(len(name) + len(value) + 4 for name, value in head.headers)
    if len(head.headers) > MAX_HEADERS or size > MAX_HEAD:
        why = f"The head may have at most {MAX_HEADERS} headers and {MAX_HEAD} bytes."
        raise Refusal(431, why, code="head")
    if not head.path.startswith("/") or head.path.startswith("//") or "\0" in head.path:
        raise Refusal(400, "The target must be a path, such as /api/v1/health.", code="target")
    if any(_CONTROL.search(value) for _, value in head.headers):
        raise Refusal(400, "A header has a control character.", code="header")
    repeated = [name for name in _ONCE if len(head.list(name)) > 1]
    if repeated:
        raise Refusal(400, f"The header {repeated[0]} may come once only.", code="header")
    if not head.list("host"):
        raise Refusal(400, "The header Host is missing.", code="host")


def check_framing(head: Head) -> None:
    """Refuse two statements about where a body ends: so one request is hidden in another."""
    if head.version not in ("1.0", "1.1"):
        raise Refusal(505, "There are HTTP/1.0 and HTTP/1.1.", code="version")
    lengths = head.list("content-length")
    encodings = head.list("transfer-encoding")
    if len(lengths) + len(encodings) > 1:
        raise Refusal(400, "The length of the body is stated twice.", code="framing")
    if lengths and not (lengths[0].isascii() and lengths[0].isdecimal()):
        raise Refusal(400, "Content-Length must be a number.", code="framing")
    if encodings and head.version != "1.1":
        raise Refusal(400, f"HTTP/{head.version} has no chunks.", code="framing")


def check_host(head: Head, door: Door) -> None:
    """Refuse a name that is not the listener's: a page can make its own name mean this machine."""
    host = head.get("host") or ""
    if host in door.hosts or (door.any_own_address and host == head.own_address):
        return
    name, _, port = host.rpartition(":")
    if host in door.names or (name in door.names and port.isascii() and port.isdecimal()):
        return
    raise Refusal(421, "There is no listener under that name here; see --allow-host.", code="host")


def check_origin(head: Head, door: Door, *, is_public: bool = False) -> None:
    """Refuse what a browser sends for another page, for a frame, or before anybody asked.

    `is_public` is for what a link of another page may lead to.
    """
    origin = head.get("origin")
    if origin is not None and origin not in door.origins | door.pages:
        raise Refusal(
            403, "Requests of other pages are refused; see --allow-origin.", code="origin"
        )
    if head.get("sec-fetch-dest") in _FRAMES:
        raise Refusal(403, "This is not shown inside another page.", code="frame")
    if is_public or (origin is not None and origin in door.pages):
        return
    if head.get("sec-fetch-site") not in (None, "same-origin", "none"):
        raise Refusal(403, "Requests of other pages are refused.", code="origin")
    if any("fetch" in (head.get(name) or "") for name in _PREFETCH):
        raise Refusal(403, "Nothing is fetched in advance.", code="prefetch")


def read_bearer(head: Head) -> str:
    """The token of the one `Authorization` header, or nothing."""
    given = head.list("authorization")
    if len(given) != 1:
        return ""
    kind, _, token = given[0].partition(" ")
    token = token.strip()
    if kind.lower() != "bearer" or not token.isascii() or len(token) > _LONGEST_TOKEN:
        return ""
    return token


def check_token(head: Head, door: Door) -> None:
    """Refuse who does not have the token, if there is one."""
    if door.token and not hmac.compare_digest(read_bearer(head).encode(), door.token.encode()):
        why = "The token is missing or wrong: send Authorization: Bearer TOKEN."
        raise Refusal(401, why, code="credential")


def check_content(head: Head, limit: int) -> None:
    """Refuse bodies that are not plain JSON, and what says that it is too large."""
    if head.has_body or head.list("content-type"):
        kind = (head.get("content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            why = "The body must be JSON: Content-Type: application/json."
            raise Refusal(415, why, code="content_type")
    if (head.get("content-encoding") or "identity").strip().lower() != "identity":
        raise Refusal(415, "The body must not be compressed.", code="content_type")
    stated = head.get("content-length") or "0"
    if len(stated) > 12 or int(stated) > limit:
        raise refuse_size(limit)


def refuse_size(limit: int) -> Refusal:
    """The refusal of a body that is too large."""
    return Refusal(413, f"The body may have at most {limit} bytes.", code="too_large")


async def read_body(receive: Receive, limit: int) -> bytes | None:
    """The whole body; None if the client went away, Refusal if it is too large or too slow."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                body += message.get("body", b"")
                if len(body) > limit:
                    raise refuse_size(limit)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError:
        why = f"The body did not arrive within {BODY_SECONDS:g} seconds."
        raise Refusal(408, why, code="slow") from None


def replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body again, and then whatever comes."""
    given = False

    async def receive_again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_again


@dataclass
class HttpGuard:
    """An application behind a door: it sees only what was let in, with the whole body."""

    app: App
    door: Door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        head = self.read_head(scope)
        try:
            passed = await self._admit(head, scope, receive)
            if passed is not None and head.kind == "websocket":
                await self.app(scope, passed, send)
            elif passed is not None:
                await self.app(scope, passed, self._add_headers(head, send))
        except Refusal as refusal:
            await self.refuse(head, scope, send, refusal)

    # What a listener may have its own way of

    def read_head(self, scope: Scope) -> Head:
        """The head of a request."""
        return read_head(scope)

    def is_public(self, head: Head) -> bool:
        """Whether a link of another page may lead there."""
        return False

    async def authenticate(self, head: Head, scope: Scope) -> None:
        """Refusal unless the caller is known."""
        check_token(head, self.door)

    def check_method(self, head: Head) -> None:
        """Refusal if there is no such path, or not with this method."""
        if self.door.path and head.path != self.door.path:
            raise Refusal(404, f"There is nothing but {self.door.path} here.", code="not_found")
        if head.kind == "http" and head.method not in self.door.methods:
            raise Refusal(405, f"There are {', '.join(self.door.methods)}.", code="method")

    def limit_body(self, head: Head, scope: Scope) -> int:
        """How large the body may be."""
        return self.door.body_limit

    def check_body(self, head: Head, body: bytes) -> None:
        """Refusal if the body cannot be used."""

    def list_headers(self, head: Head) -> Headers:
        """Headers for every answer."""
        return [(b"cache-control", b"no-store")]

    def render(self, refusal: Refusal) -> bytes:
        """The body of a refusal."""
        error = {"code": refusal.code, "message": refusal.message}
        return json.dumps({"error": error}).encode()

    async def refuse(self, head: Head, scope: Scope, send: Send, refusal: Refusal) -> None:
        """Answer a request, or a handshake before it is accepted."""
        kind = "http.response"
        if head.kind == "websocket":
            if "websocket.http.response" not in scope.get("extensions", {}):
                await send({"type": "websocket.close", "code": 1008, "reason": refusal.message})
                return
            kind = "websocket.http.response"
        body = self.render(refusal)
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            *self._explain_status(refusal),
            *self.list_headers(head),
        ]
        if kind == "http.response":
            # What is left of a body that nobody read would be taken for the next request.
            headers.append((b"connection", b"close"))
        await send({"type": f"{kind}.start", "status": refusal.status, "headers": headers})
        await send({"type": f"{kind}.body", "body": body})

    # The way in

    async def _admit(self, head: Head, scope: Scope, receive: Receive) -> Receive | None:
        """What gives the body; None if the client went away, Refusal if it is not let in."""
        check_form(head)
        check_framing(head)
        check_host(head, self.door)
        check_origin(head, self.door, is_public=self.is_public(head))
        await self.authenticate(head, scope)
        self.check_method(head)
        if head.kind == "websocket":
            return receive
        limit = self.limit_body(head, scope)
        check_content(head, limit)
        body = await read_body(receive, limit)
        if body is None:
            return None
        self.check_body(head, body)
        return replay(body, receive)

    def _explain_status(self, refusal: Refusal) -> Headers:
        if refusal.status == 401:
            return [(b"www-authenticate", b"Bearer")]
        if refusal.status == 405:
            return [(b"allow", ", ".join(self.door.methods).encode())]
        if refusal.retry_after or refusal.status == 503:
            return [(b"retry-after", str(refusal.retry_after or _RETRY_SECONDS).encode())]
        return []

    def _add_headers(self, head: Head, send: Send) -> Send:
        more = self.list_headers(head)

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = message.get("headers", [])
                named = {name for name, _ in present}
                added = [pair for pair in more if pair[0] not in named]
                message = {**message, "headers": [*present, *added]}
            async with asyncio.timeout(SEND_SECONDS):
                await send(message)

        return send_with
