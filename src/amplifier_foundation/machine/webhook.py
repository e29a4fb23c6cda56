"""One JSON document, posted to one address, by the standard library, in a thread."""

from __future__ import annotations

import asyncio
import http.client
import socket
import ssl
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


class WebhookError(Exception):
    """The document did not arrive. `temporary`: another try may help."""

    def __init__(self, message: str, *, temporary: bool) -> None:
        super().__init__(message)
        self.temporary = temporary


def check_url(url: str) -> str:
    """The address, if it is one that can be posted to; ValueError says what is wrong."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an address that begins with http:// or https://")
    if not url.isascii() or any(char.isspace() or not char.isprintable() for char in url):
        raise ValueError("has characters that no address may have; encode them with %")
    _ = parts.port  # raises ValueError when it is no number
    return url


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where to post to. Redirects are not followed and no proxy is used."""

    url: str
    headers: Mapping[str, str]
    timeout: float

    @property
    def host(self) -> str:
        """For messages: the rest of an address is often a secret."""
        return urlsplit(self.url).hostname or "?"

    async def post(self, body: bytes) -> None:
        """Deliver, or raise WebhookError; never takes much longer than the time limit."""
        connection = self._connection()
        try:
            async with asyncio.timeout(self.timeout):
                status = await asyncio.to_thread(self._exchange, connection, body)
        except TimeoutError:
            raise WebhookError(f"{self.host} took too long", temporary=True) from None
        except (OSError, http.client.HTTPException, ValueError) as failure:
            raise WebhookError(f"{self.host}: {failure}", temporary=True) from failure
        finally:
            _hang_up(connection)
        if not 200 <= status < 300:
            temporary = status >= _SERVER_ERROR or status == _TOO_MANY_REQUESTS
            raise WebhookError(f"{self.host} answered {status}", temporary=temporary)

    def _connection(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        if parts.scheme == "http":
            return http.client.HTTPConnection(host, parts.port, timeout=self.timeout)
        trust = ssl.create_default_context()
        return http.client.HTTPSConnection(host, parts.port, timeout=self.timeout, context=trust)

    def _exchange(self, connection: http.client.HTTPConnection, body: bytes) -> int:
        headers = {"Content-Type": "application/json", "User-Agent": "amplifier", **self.headers}
        connection.request("POST", _target(urlsplit(self.url)), body, headers)
        return connection.getresponse().status


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _hang_up(connection: http.client.HTTPConnection) -> None:
    """Also wakes a thread that still waits for a server which answers a byte at a time."""
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(socket.SHUT_RDWR)
    connection.close()
