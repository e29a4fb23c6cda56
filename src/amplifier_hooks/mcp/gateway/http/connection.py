"""HTTP requests to one server: no proxy, no other host, no compressed answers."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from amplifier_hooks.guards.mcp.frames import LARGEST
from amplifier_hooks.machine.http import check_private_url, check_url
from amplifier_hooks.mcp.gateway.channel import ChannelError
from amplifier_hooks.modules.installation import require

if TYPE_CHECKING:
    import httpx2


_ADVICE = {
    401: "a token is missing or not accepted; give one with --header-env "
    '"Authorization=Bearer VARIABLE"',
    403: "what was given does not allow this; a token is given with --header-env "
    '"Authorization=Bearer VARIABLE"',
    404: "there is no MCP server at this path; check the end of the address",
    405: "this path takes no messages; check the end of the address (the old transport, HTTP+SSE, "
    "is not supported)",
    406: "the server cannot answer with JSON or an event stream",
    413: "the message is too large for the server",
    429: "the server gets too many requests",
}
_DEPTH = 10
_UNKNOWN = "whether the server carried it out is not known"


class WireError(ChannelError):
    """A message did not get through, or what came back for it cannot be passed on."""


def describe_failure(http: Any, host: str, failure: Exception) -> WireError:
    """An exception of the HTTP client; a header is never quoted."""
    causes = list(_list_causes(failure))
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            why = str(getattr(cause, "verify_message", "") or cause.strerror or cause)
            return WireError(
                f"{host}: the connection is not secure ({why}); if a certificate of your own "
                "signs it, name its file in SSL_CERT_FILE"
            )
    if isinstance(failure, http.LocalProtocolError | UnicodeError):
        return WireError(f"{host}: a header has characters that HTTP does not allow")
    if isinstance(failure, http.ConnectTimeout):
        return WireError(f"{host} cannot be reached: no connection in time")
    if isinstance(failure, http.ConnectError):
        return WireError(f"{host} cannot be reached: {_find_reason(causes)}")
    reason = str(failure) or type(failure).__name__
    return WireError(f"{host}: the connection broke ({reason}); {_UNKNOWN}")


def describe_status(host: str, status: int, headers: Mapping[str, str]) -> WireError:
    """An answer that says no."""
    advice = _ADVICE.get(status, "the server failed" if status >= 500 else "the server refused it")
    later = headers.get("retry-after", "")
    if later.isdecimal() and len(later) < 8:
        advice += f"; it may be tried again in {later} s"
    return WireError(f"{host} answered {status}: {advice}")


def describe_end(host: str) -> WireError:
    """A stream that ended without the answer."""
    return WireError(f"{host}: the stream ended before the answer; {_UNKNOWN}")


def _list_causes(failure: BaseException | None) -> Iterator[BaseException]:
    """The failure and what is behind it."""
    for _ in range(_DEPTH):
        if failure is None:
            return
        yield failure
        if isinstance(failure, BaseExceptionGroup):
            yield from failure.exceptions
        failure = failure.__cause__ or failure.__context__


def _find_reason(causes: Sequence[BaseException]) -> str:
    """What the system says, which comes last; the library just says that it did not work."""
    said = [one.errno for one in causes if isinstance(one, OSError) and one.errno]
    if said and said[-1] in (errno.EMFILE, errno.ENFILE):
        return "too many connections at once for this process; see `ulimit -n`"
    return os.strerror(said[-1]) if said else str(causes[0]) or "no connection"


_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?")
_OURS = frozenset(
    {"accept", "accept-encoding", "connection", "content-encoding", "content-length"}
    | {"content-type", "host", "last-event-id", "te", "transfer-encoding", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where the server is. Only `host` may be shown: the rest of an address can be a secret."""

    url: str
    headers: Mapping[str, str] = field(repr=False)

    @property
    def host(self) -> str:
        """The host, with its port if that is stated."""
        return urlsplit(self.url).netloc

    def move(self, location: str) -> Address | None:
        """The address that a redirect names; None if it leads away from this server."""
        target = urljoin(self.url, location)
        if _find_origin(target) != _find_origin(self.url) or "@" in urlsplit(target).netloc:
            return None
        return Address(target, self.headers)


def check_address(url: str, headers: Mapping[str, str]) -> Address:
    """The address, if messages can be sent to it; ChannelError says what is wrong."""
    for name, value in headers.items():
        _check_header(name, value)
    try:
        # Headers are secrets as a rule: without TLS, everybody on the way could read them.
        (check_private_url if headers else check_url)(url)
    except ValueError as error:
        raise ChannelError(f"The address of the MCP server {error}") from None
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ChannelError(
            "The address of the MCP server has a password; give it with --header-env instead"
        )
    return Address(parts._replace(fragment="").geturl(), dict(headers))


def _check_header(name: str, value: str) -> None:
    if not _NAME.fullmatch(name):
        raise ChannelError(f"{name!r:.60} is no name for a header")
    if name.lower() in _OURS or name.lower().startswith("mcp-"):
        raise ChannelError(f"The header {name!r:.60} is set by the gateway itself; leave it out")
    if not _VALUE.fullmatch(value):
        raise ChannelError(
            f"The header {name!r:.60} is empty or has characters that HTTP does not allow"
        )


def _find_origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    default = 443 if parts.scheme == "https" else 80
    try:
        return parts.scheme, parts.hostname or "", parts.port or default
    except ValueError:  # a port that is no number
        return "", "", 0


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
            client = self._client
            self._client = None
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
