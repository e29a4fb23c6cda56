"""The HTTP client of all modules: it posts a JSON document to one address, with httpx2.

It follows no redirects, uses no proxy, verifies certificates, and has a time limit for the whole
exchange. The package is imported with the first request.
"""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from amplifier_hooks.modules.installation import require

if TYPE_CHECKING:  # an optional package: `require` says what to install when it is missing
    import httpx2

_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500
_DEFAULT_HEADERS = {"Content-Type": "application/json", "User-Agent": "amplifier"}
# One exchange per connection; a compressed answer could expand to more than its limit.
_FIXED_HEADERS = {"Connection": "close", "Accept-Encoding": "identity"}


class HttpError(Exception):
    """The document did not arrive, or was not accepted. The message names only the host.

    `status` is what the server answered, or None if it did not.
    """

    def __init__(self, message: str, *, status: int | None = None, timed_out: bool = False) -> None:
        super().__init__(message)
        self.status = status
        self.timed_out = timed_out

    @property
    def temporary(self) -> bool:
        """Whether another try may help."""
        return (
            self.status is None or self.status >= _SERVER_ERROR or self.status == _TOO_MANY_REQUESTS
        )


def check_url(url: str) -> str:
    """Return the address if it can be posted to; ValueError says what is wrong."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an address that begins with http:// or https://")
    if not url.isascii() or any(char.isspace() or not char.isprintable() for char in url):
        raise ValueError("has characters that no address may have; encode them with %")
    if parts.port == 0:  # asking for it raises ValueError when it is no number
        raise ValueError("has the port 0, on which nobody listens")
    return url


def check_private_url(url: str) -> str:
    """The same for private documents: the address must be on this machine, or use TLS."""
    parts = urlsplit(check_url(url))
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ValueError("leaves this machine without TLS; use https")
    return url


def ensure_available(owner: str) -> None:
    """Raise a ModuleLoadError that says what to install; for `mount`, rather than later."""
    _load(owner)


async def post_json(
    url: str,
    body: bytes,
    *,
    timeout: float,
    headers: Mapping[str, str] | None = None,
    limit: int = 0,
    owner: str = "HTTP",
) -> str:
    """Deliver a document and return the text of the answer; HttpError if that fails.

    Up to `limit` bytes of the answer are read; a longer one is a failure. With 0, none is read.
    """
    # The rest of an address is often a secret, so no message has more of it than this.
    host = urlsplit(url).hostname or "?"
    http = _load(owner)
    try:
        async with asyncio.timeout(timeout):
            return await _exchange(http, url, body, headers or {}, limit)
    except TimeoutError:
        raise HttpError(f"{host} took too long", timed_out=True) from None
    except (http.LocalProtocolError, UnicodeError):
        # Without its words: they quote the header, which may be a key.
        raise HttpError(f"{host}: a header has characters that HTTP does not allow") from None
    except (http.HTTPError, http.InvalidURL, OSError) as failure:
        raise HttpError(f"{host}: {failure}") from failure
    except _Unusable as answer:
        raise HttpError(f"{host} {answer}", status=answer.status) from None


class _Unusable(Exception):
    """An answer that cannot be used; the message continues after the host's name."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


async def _exchange(
    http: Any, url: str, body: bytes, headers: Mapping[str, str], limit: int
) -> str:
    sent = http.Headers(_DEFAULT_HEADERS)
    sent.update(headers)
    sent.update(_FIXED_HEADERS)
    client: httpx2.AsyncClient = http.AsyncClient(
        verify=_create_trust(),
        trust_env=False,  # no proxies, and no passwords from a .netrc
        follow_redirects=False,
        timeout=None,  # each step may take as long as the whole, which the caller limits
    )
    async with client, client.stream("POST", url, content=body, headers=sent) as response:
        if not response.is_success:
            raise _Unusable(f"answered {response.status_code}", response.status_code)
        return (await _read(response, limit)).decode("utf-8", "replace") if limit else ""


async def _read(response: httpx2.Response, limit: int) -> bytes:
    encoding = response.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise _Unusable(f"compressed its answer with {encoding!r}, without being asked to")
    received = bytearray()
    async for chunk in response.aiter_raw():
        received += chunk
        if len(received) > limit:
            raise _Unusable(f"answered with more than {limit} bytes")
    return bytes(received)


def _load(owner: str) -> Any:
    return require("httpx2", owner, "http")


@cache
def _create_trust() -> ssl.SSLContext:
    """Trust what this machine trusts, rather than a list that comes with a package."""
    return ssl.create_default_context()


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can connect there."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
