"""HTTP to one server: no proxy, no other host, no compressed answers."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from amplifier_hooks.guards.mcp.frames import LARGEST
from amplifier_hooks.mcp.gateway.http.outgoing.address import Address
from amplifier_hooks.mcp.gateway.http.outgoing.failures import WireError, describe_failure
from amplifier_hooks.modules.installation import require

if TYPE_CHECKING:
    import httpx2

CONNECT_SECONDS = 15.0
WRITE_SECONDS = 60.0
_REUSE_SECONDS = 4.0
"""Many servers close an idle connection after five seconds; a message must not meet that."""
_MOVES = 3
_SAME_METHOD = frozenset({307, 308})


class Wire:
    """Requests to one server; httpx2 is imported with the first one."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self._client: httpx2.AsyncClient | None = None

    @property
    def host(self) -> str:
        """What may be shown of the address."""
        return self.address.host

    @asynccontextmanager
    async def request(
        self, method: str, headers: Mapping[str, str], body: bytes | None = None
    ) -> AsyncIterator[httpx2.Response]:
        """The answer to one request, its body still to be read; WireError if there is none."""
        http = load_httpx()
        try:
            for _ in range(_MOVES + 1):
                async with self._open().stream(
                    method,
                    self.address.url,
                    headers={**self.address.headers, **headers},
                    content=body,
                ) as response:
                    if not 300 <= response.status_code < 400:
                        _check_encoding(self.host, response)
                        yield response
                        return
                    self.address = self._move(response)
        except (http.HTTPError, http.InvalidURL, OSError, UnicodeError) as failure:
            raise describe_failure(http, self.host, failure) from None
        raise WireError(f"{self.host} redirects in a circle")

    async def close(self) -> None:
        """End all connections."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.aclose()

    def _move(self, response: httpx2.Response) -> Address:
        """Follow a redirect within the server; another one must not get what is meant for this."""
        location = response.headers.get("Location", "")
        moved = self.address.move(location)
        if moved is None:
            target = location.partition("?")[0]
            raise WireError(
                f"{self.host} redirects to {target!r:.200}, which is another server; if that is "
                "the one you want, give its address"
            )
        if response.status_code not in _SAME_METHOD:
            raise WireError(
                f"{self.host} answered {response.status_code}: it redirects messages to a page"
            )
        return moved

    def _open(self) -> httpx2.AsyncClient:
        if self._client is None:
            self._client = _create_client(load_httpx())
        return self._client


async def read_body(host: str, response: httpx2.Response) -> bytes:
    """The whole body of an answer."""
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > LARGEST:
            raise WireError(f"{host} answered with more than {LARGEST:,} bytes")
    return bytes(received)


def load_httpx() -> Any:
    """The HTTP client; an error that names the extra if it is not installed."""
    return require("httpx2", "An MCP server over HTTP", "mcp")


def _create_client(http: Any) -> httpx2.AsyncClient:
    # None for requests: a call may take as long as it takes. A dead peer is found by keep-alives.
    options = [
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *_list_keepalives((("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))),
    ]
    transport = http.AsyncHTTPTransport(
        verify=_create_trust(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")),
        trust_env=False,
        limits=http.Limits(
            max_connections=None, max_keepalive_connections=32, keepalive_expiry=_REUSE_SECONDS
        ),
        socket_options=options,
    )
    client: httpx2.AsyncClient = http.AsyncClient(
        transport=transport,
        headers={"User-Agent": "amplifier", "Accept-Encoding": "identity"},
        trust_env=False,
        follow_redirects=False,
        timeout=http.Timeout(None, connect=CONNECT_SECONDS, write=WRITE_SECONDS),
    )
    return client


@cache
def _create_trust(*_named: str | None) -> ssl.SSLContext:
    """Trust what this machine trusts; reading that takes long enough to do it once."""
    return ssl.create_default_context()


def _list_keepalives(wanted: tuple[tuple[str, int], ...]) -> list[tuple[int, int, int]]:
    return [
        (socket.IPPROTO_TCP, getattr(socket, name), value)
        for name, value in wanted
        if hasattr(socket, name)  # not every system has all of them
    ]


def _check_encoding(host: str, response: httpx2.Response) -> None:
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise WireError(f"{host} compressed its answer ({encoding!r:.40}) without being asked to")
