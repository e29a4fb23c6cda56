"""The tool calls that an agent wanted and has not reported back: before and after in pairs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from amplifier_core.utils import digest

MOST = 512
"""How many are remembered: an agent does not report every call back."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """One call that was allowed, or denied."""

    id: str
    """As the trail knows it."""

    given: str
    """The agent's own id of it; empty where it gives none."""

    tool: str
    input: dict[str, Any]
    """As it was allowed to run."""

    asked: dict[str, Any]
    """As the agent wanted it, if a hook has changed it."""

    started: float
    approved: bool = False
    """A person has said yes to exactly this."""

    denied_by: str = ""
    """Who denied it, of a call that must not run."""

    reason: str = ""
    """What the agent was told then."""


class OpenCalls:
    """Finds the call that a report is about."""

    def __init__(self) -> None:
        self._calls: list[OpenCall] = []

    def add(self, call: OpenCall) -> None:
        """Remember a call; the oldest are forgotten."""
        self._calls.append(call)
        del self._calls[:-MOST]

    def find(self, given: str, tool: str, tool_input: Mapping[str, Any]) -> OpenCall | None:
        """By the agent's id; else the first one of that tool with that input."""
        if given:
            return next((one for one in self._calls if one.given == given), None)
        wanted = digest(tool_input)
        same = [one for one in self._calls if one.tool == tool]
        fits = (one for one in same if wanted in (digest(one.input), digest(one.asked)))
        return next(fits, None)

    def take(self, given: str, tool: str, tool_input: Mapping[str, Any]) -> OpenCall | None:
        """The same, and forget it: it is over."""
        found = self.find(given, tool, tool_input)
        if found is not None:
            self._calls.remove(found)
        return found

    def drop(self, call_id: str) -> None:
        """Forget a call, by the id that the trail knows."""
        self._calls = [one for one in self._calls if one.id != call_id]

    def list_ids(self) -> list[str]:
        """The ids of all that are open."""
        return [one.id for one in self._calls]

    def list_given(self) -> list[OpenCall]:
        """Those that the agent itself has an id for."""
        return [one for one in self._calls if one.given]

    def save(self) -> list[dict[str, Any]]:
        """As values that JSON can hold."""
        return [asdict(one) for one in self._calls]

    def load(self, saved: Any) -> None:
        """What an earlier process knew; what is not one is left out."""
        for one in saved if isinstance(saved, list) else ():
            try:
                self.add(OpenCall(**one))
            except TypeError:
                continue


def measure_start(spent_ms: Any) -> float:
    """When a call began by `perf_counter`, if it took so many milliseconds."""
    spent = spent_ms if isinstance(spent_ms, int | float) and spent_ms > 0 else 0
    return time.perf_counter() - spent / 1000
