"""One end of the relay: a client or a server, over pipes or HTTP."""

from __future__ import annotations

from typing import Protocol

from amplifier_core.errors import AmplifierError
from amplifier_hooks.guards.mcp.frames import Frame


class ChannelError(AmplifierError):
    """The other end cannot be reached, or says what cannot be passed on."""


class ChannelNote(ChannelError):
    """Nothing came, but a person should know: what was sent earlier did not get through."""


class Channel(Protocol):
    """Messages from one program, and to it."""

    async def receive(self) -> bytes | None:
        """The next message as it was sent, without the line's end; None when no more will come.

        ChannelError if something came that is no message, or ChannelNote if there is something to
        say; the next message can still be read.
        """
        ...

    async def send(self, frame: Frame) -> None:
        """Hand a message over, in the order of the calls; ChannelError if nobody takes it."""
        ...

    async def close(self) -> None:
        """Let go of the program. May be called twice."""
        ...
