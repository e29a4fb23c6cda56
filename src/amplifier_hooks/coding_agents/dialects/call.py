"""One event as the hook of another agent is to see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Call:
    """An occurrence of an event, and where it belongs."""

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
    def tool_call_id(self) -> str:
        """The id of the tool call, empty where there is none."""
        return str(self.data.get("tool_call_id") or "")

    @property
    def input(self) -> dict[str, Any]:
        """The input of the tool as it stands."""
        given = self.data.get("tool_input") if self.tool_input is None else self.tool_input
        return dict(given) if isinstance(given, Mapping) else {}

    @property
    def response(self) -> Mapping[str, Any]:
        """The tool's result, as an object in any case."""
        result = self.data.get("tool_result")
        return result if isinstance(result, Mapping) else {"success": True, "output": result}

    @property
    def error(self) -> str:
        """Why the tool failed."""
        error = self.data.get("error") or self.response.get("error")
        return str(error.get("message", error)) if isinstance(error, Mapping) else str(error or "")

    @property
    def last_message(self) -> str:
        """The last thing the agent said."""
        return read_text(self.data.get("final_message") or self.data.get("result"))


def read_text(message: Any) -> str:
    """The text of a message or of a sub-agent's result; a list of blocks is joined."""
    if not isinstance(message, dict):
        return ""
    content = message.get("content", message.get("output"))
    if isinstance(content, list):
        blocks = (block for block in content if isinstance(block, dict))
        content = "".join(str(block.get("text", "")) for block in blocks)
    return str(content or "")
