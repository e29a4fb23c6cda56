"""What a program chooses when it attaches hooks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from amplifier_hooks.frameworks.claude_agent_sdk.questions import Questions

LONGEST = 3600.0
"""Seconds that hooks, and the people whom they ask, have for one event."""

_MARGIN = 5.0
"""Seconds that an answer of ours needs to be there before the program gives up."""

Asks = Literal["inline"] | Questions
"""Where people are asked: while the call waits, or after the run was interrupted for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How long, under which names, and where people are asked."""

    timeout: float
    plain_servers: tuple[str, ...]
    asks: Questions | None

    @property
    def seconds(self) -> float:
        """How long hooks have, so that their answer is there in time."""
        return self.timeout - min(_MARGIN, self.timeout / 10)

    @property
    def prefixes(self) -> tuple[str, ...]:
        """How the program's names of tools begin that hooks see without that."""
        return tuple(f"mcp__{name}__" for name in self.plain_servers)


def choose(timeout: float, plain_servers: Sequence[str], asks: Asks) -> Settings:
    """The settings; what cannot be meant is refused."""
    if timeout <= 0:
        raise ValueError(f"timeout must be more than 0 seconds, got {timeout}")
    if isinstance(plain_servers, str):
        raise TypeError(f"plain_servers is a list of names, got the text {plain_servers!r}")
    if not isinstance(asks, Questions) and asks != "inline":
        raise ValueError(f"asks is 'inline' or a Questions object, got {asks!r}")
    return Settings(timeout, tuple(plain_servers), asks if isinstance(asks, Questions) else None)
