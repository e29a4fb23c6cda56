"""One piece of news, encoded once for everybody."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from amplifier_hooks.server.wire.encoding import encode


@dataclass(frozen=True)
class Update:
    """What a socket or a stream is sent."""

    type: str
    payload: str
    """JSON of the value itself."""

    @cached_property
    def message(self) -> str:
        """As a message of a WebSocket."""
        return f'{{"type":"{self.type}","{self.type}":{self.payload}}}'

    @cached_property
    def event(self) -> str:
        """As an event of a stream."""
        return f"event: {self.type}\ndata: {self.payload}\n\n"


def make_update(kind: str, value: Any) -> Update:
    """News of a value."""
    return Update(kind, encode(value))


@dataclass(frozen=True)
class Said(Update):
    """A message that is only for WebSockets, already complete."""

    @cached_property
    def message(self) -> str:
        return self.payload


def say(**fields: Any) -> Said:
    """A message with these fields."""
    return Said(fields["type"], encode(fields))


PING = say(type="ping")
