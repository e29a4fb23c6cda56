"""The address of a server, and the headers that a person gives for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import urljoin, urlsplit

from amplifier_hooks.machine.http import check_private_url, check_url
from amplifier_hooks.mcp.gateway.channel import ChannelError

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
