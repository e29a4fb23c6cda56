"""The guard of the gateway: programs, and the pages that a person has allowed by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.guards.mcp.frames import INVALID_REQUEST, LARGEST, refuse
from amplifier_hooks.http_guard import (
    Door,
    Head,
    Headers,
    HttpGuard,
    Refusal,
    Scope,
    list_own_hosts,
)
from amplifier_hooks.http_guard.guard import is_wildcard
from amplifier_hooks.machine.http import is_loopback
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.mcp.gateway.http.wire_format import SESSION

LOOPBACK = "127.0.0.1"
_TOKEN = re.compile(r"[\x21-\x7e]{16,4096}")


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """What a person chose for `--listen`; ChannelError if it does not go together."""

    host: str = LOOPBACK
    port: int = 0
    """0 for any that is free."""
    token: str = field(default="", repr=False)
    """What clients must send as `Authorization: Bearer …`; empty for nothing."""
    hosts: frozenset[str] = frozenset()
    """Further names under which clients reach us, without port."""
    origins: frozenset[str] = frozenset()
    """Pages that may connect, such as `http://localhost:5173`."""
    passes_authorization: bool = False
    """Whether the server gets the `Authorization` of the client."""
    sessions: int = 64
    """Clients at once, each of which has a server process or connection of its own."""
    idle_seconds: float = 1800.0
    """After which a client that says nothing, and waits for nothing, is taken to have left."""

    def __post_init__(self) -> None:
        if self.token and not _TOKEN.fullmatch(self.token):
            raise ChannelError(
                "The token for clients has fewer than 16 characters, or some that HTTP forbids"
            )
        if not self.token and not is_loopback(self.host):
            raise ChannelError(
                f"Listening on {self.host!r:.100} lets other machines in; clients need a token "
                "then: name the variable that has it with --token-env"
            )
        if self.token and self.passes_authorization:
            raise ChannelError(
                "Clients cannot send both our token and one for the server as Authorization: "
                "leave out --token-env or --pass-authorization"
            )


def parse_address(text: str) -> tuple[str, int]:
    """Host and port out of `[HOST:]PORT`; IPv6 in brackets. ChannelError if it is not that."""
    host, _, port = text.rpartition(":")
    host = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    is_fit = port.isascii() and port.isdecimal() and len(port) <= 5 and int(port) <= 65535
    if not is_fit or (":" in host and not text.startswith("[")) or (not host and ":" in text):
        raise ChannelError(f"{text!r:.100} is no [HOST:]PORT, such as 8080 or 127.0.0.1:8080")
    return host or LOOPBACK, int(port)


PATH = "/mcp"
_ASKED = "access-control-request-"


class MessageRefusal(Refusal):
    """The refusal of a message: `rpc_code` and `id` are what its sender reads in the error."""

    def __init__(self, status: int, reason: str, rpc_code: int, id: Any) -> None:
        super().__init__(status, reason)
        self.rpc_code = rpc_code
        self.id = id


def make_door(settings: ListenSettings) -> Door:
    """What the gateway accepts; `settings` has the port that it listens on."""
    hosts = list_own_hosts(settings.host, settings.port)
    return Door(
        hosts=hosts,
        names=frozenset(name.lower() for name in settings.hosts),
        origins=frozenset(f"http://{host}" for host in hosts),
        pages=settings.origins,
        methods=("GET", "POST", "DELETE"),
        path=PATH,
        token=settings.token,
        body_limit=LARGEST,
        any_own_address=is_wildcard(settings.host),
    )


class GatewayGuard(HttpGuard):
    """Refuses with errors of the protocol, and tells browsers which pages may come."""

    async def authenticate(self, head: Head, scope: Scope) -> None:
        """Refusal without the token, but for a browser's question, which comes without it."""
        if not self._asks_for_page(head):
            await super().authenticate(head, scope)

    def check_method(self, head: Head) -> None:
        """There is OPTIONS for questions of browsers only."""
        if not self._asks_for_page(head):
            super().check_method(head)

    def list_headers(self, head: Head) -> Headers:
        """For an allowed page, tell the browser to let it read the answer."""
        headers: Headers = [(b"cache-control", b"no-store")]
        origin = head.get("origin")
        if origin is not None and origin in self.door.pages:
            headers += [
                (b"access-control-allow-origin", origin.encode("latin-1")),
                (b"access-control-expose-headers", SESSION.encode()),
                (b"vary", b"Origin"),
            ]
        return headers

    def render(self, refusal: Refusal) -> bytes:
        """An error as the protocol has it."""
        if isinstance(refusal, MessageRefusal):
            return refuse(refusal.id, refusal.rpc_code, refusal.message).raw
        return refuse(None, INVALID_REQUEST, refusal.message).raw

    def _asks_for_page(self, head: Head) -> bool:
        return asks_for_page(head) and head.get("origin") in self.door.pages


def asks_for_page(head: Head) -> bool:
    """Whether a browser asks if a page may send a request; it sends no token with that."""
    return head.method == "OPTIONS" and head.get(f"{_ASKED}method") is not None


def list_permissions(head: Head) -> Headers:
    """The answer to such a question; whether the page is allowed has been decided."""
    headers = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", (head.get(f"{_ASKED}headers") or "").encode("latin-1")),
        (b"access-control-max-age", b"600"),
    ]
    if head.get(f"{_ASKED}private-network") == "true":
        headers.append((b"access-control-allow-private-network", b"true"))
    return headers
