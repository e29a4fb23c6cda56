"""What makes the protocol of one agent."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_foundation.hooks.shell.handler import Call, Handler, Reply
from amplifier_foundation.hooks.shell.verdict import NOTHING, Verdict, failed

Build = Callable[[Call], dict[str, Any]]

FILE_TOOLS = frozenset({"Write", "Edit", "MultiEdit"})


@dataclass(frozen=True, slots=True)
class Occasion:
    """Which of our events a native one stands for; some only for certain tools or outcomes."""

    event: str
    tools: frozenset[str] | None = None
    success: bool | None = None

    def fits(self, data: Mapping[str, Any]) -> bool:
        """Whether this occurrence is one of them."""
        name = str(data.get("tool_name") or "")
        if self.tools is not None and not (name in self.tools or _is_mcp(name, self.tools)):
            return False
        return self.success is None or _succeeded(data) is self.success


def _is_mcp(name: str, tools: frozenset[str]) -> bool:
    return "mcp__*" in tools and name.startswith("mcp__")


def _succeeded(data: Mapping[str, Any]) -> bool:
    finished = data.get("status") in (None, "success")
    return finished and bool(data.get("success", True)) and "error" not in data


@dataclass(frozen=True, slots=True)
class Dialect:
    """Names, units, order, payload, answer and failure direction."""

    name: str
    events: Mapping[str, tuple[Occasion, ...]]
    payload: Callable[[Call], dict[str, Any]]
    answer: Callable[[Handler, Call, Reply], Verdict]
    matches: Callable[[str | None, Iterable[str]], bool]
    matched: Callable[[Call], tuple[str, ...]]
    environment: Callable[[Call], dict[str, str]]
    timeout: Callable[[str], float]  # seconds by default, by native event
    unit: float = 1.0  # seconds in one unit of a written timeout
    in_order: bool = False
    tool_names: Mapping[str, str] = field(default_factory=dict)  # ours to theirs

    def tool(self, name: str) -> str:
        """Their name of a tool."""
        return self.tool_names.get(name, name)


def read_json(text: str) -> dict[str, Any] | None:
    """The object that a hook printed, or None when it printed something else."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return None
    try:
        value = json.loads(stripped)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def unreadable(handler: Handler, text: str) -> Verdict:
    """Plain text is no answer; something that begins like one is a failed one."""
    if not text.strip().startswith("{"):
        return NOTHING
    sentence = f"Hook {handler.label!r} answered with JSON that cannot be read"
    return failed(sentence, fail_closed=handler.fail_closed)


def first_line(text: str) -> str:
    """Enough of an error output to recognise it by."""
    lines = text.strip().splitlines()
    return lines[0][:300] if lines else "no message"
