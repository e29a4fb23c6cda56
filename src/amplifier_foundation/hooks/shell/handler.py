"""One external hook, whatever agent its file was written for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Handler:
    """What to run, when, and what its failure means."""

    dialect: str
    native: str  # the event's name in that dialect
    where: str  # for messages: file and position
    command: str | None = None
    args: tuple[str, ...] | None = None  # run without a shell
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    header_vars: frozenset[str] = frozenset()
    cwd: str | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    matcher: str | None = None
    condition: str | None = None
    timeout: float = 60.0
    fail_closed: bool = False
    background: bool = False
    once: bool = False
    lane: str | None = None  # handlers of one lane run in order
    loop_limit: int = 8

    @property
    def label(self) -> str:
        """The short name a person recognises it by."""
        return self.url or self.command or " ".join(self.args or ())


@dataclass(frozen=True, slots=True)
class Call:
    """One event as the hook of another agent is to see it."""

    event: str  # ours
    native: str
    data: Mapping[str, Any]
    session_id: str
    cwd: str
    transcript: str = ""
    agent_id: str | None = None
    blocked_stops: int = 0
    tool_input: Mapping[str, Any] | None = None  # what an earlier hook of the lane made of it

    @property
    def tool(self) -> str:
        """Our name of the tool."""
        return str(self.data.get("tool_name") or "")

    @property
    def input(self) -> dict[str, Any]:
        """The input of the tool as it stands."""
        given = self.data.get("tool_input") if self.tool_input is None else self.tool_input
        return dict(given) if isinstance(given, Mapping) else {}

    @property
    def response(self) -> Any:
        """What the tool answered."""
        result = self.data.get("tool_result")
        return result if isinstance(result, Mapping) else {"success": True, "output": result}

    @property
    def error(self) -> str:
        """Why the tool failed."""
        error = self.data.get("error") or self.response.get("error")
        return str(error.get("message", error)) if isinstance(error, Mapping) else str(error or "")


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back: an exit code and two streams, or the reason why nothing did."""

    code: int = 0
    stdout: str = ""
    stderr: str = ""
    failure: str | None = None
    timed_out: bool = False
