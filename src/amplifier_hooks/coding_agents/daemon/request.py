"""What a client asks, what it is answered, and who decides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """One event of one agent."""

    agent: str
    """claude, codex, gemini, copilot, cursor or opencode"""
    event: str
    """the agent's name of the event, from the command line"""
    payload: bytes
    """what the agent wrote to the command"""
    seconds: float
    """until the client gives up"""
    cwd: str = ""
    """the folder that the client was called in"""
    bundle: str = ""
    """the bundle that the command names, if it does"""
    marks: frozenset[str] = frozenset()
    """what the environment of the client tells about the agent"""
    client: int = 0
    """the process that asks; 0 where that is not known, as over HTTP"""


@dataclass(frozen=True, slots=True)
class Response:
    """What the command does: its exit code and what it writes."""

    code: int = 0
    stdout: bytes = b""
    stderr: bytes = b""


class Judge(Protocol):
    """Decides about events, and keeps the sessions of the agents."""

    async def answer(self, request: Request) -> Response:
        """Decide about one event, before its time is over."""

    async def close(self) -> None:
        """Suspend every session: its state is saved and its trail closed, but no end recorded."""

    def count_sessions(self) -> int:
        """How many sessions are open."""

    def list_alarms(self) -> list[str]:
        """What is wrong with the guards of sessions that are open."""

    def holds_open(self) -> bool:
        """Whether the process must stay although nobody asks, as for an agent that uses HTTP."""
