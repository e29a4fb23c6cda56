"""Where clients connect, and which of them may."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from amplifier_hooks.machine.http import is_loopback
from amplifier_hooks.mcp.gateway.channel import ChannelError

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
