"""What a run amounts to so far: counted from its events, nothing shown."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events


@dataclass(slots=True)
class RunState:
    """Time, tokens, money, calls, and what the run is doing right now."""

    clock: Callable[[], float] = time.monotonic
    started: float = 0.0
    tokens: int = 0
    cost: float | None = None
    tools: int = 0
    denied: int = 0
    asked: int = 0
    ended: float | None = None
    doing: str = "starting"
    levels: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, until it ended."""
        return (self.clock() if self.ended is None else self.ended) - self.started

    def end(self) -> None:
        """The run is over; its time stands still."""
        self.ended = self.clock()

    def take(self, event: str, data: Mapping[str, Any]) -> None:
        """Count one event."""
        step = _STEPS.get(event)
        if step is not None:
            step(self, data)

    def summary(self) -> str:
        """Time, tokens and cost, as far as they are known."""
        parts = [duration(self.elapsed)]
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"${self.cost:.4f}" if self.cost < 1 else f"${self.cost:.2f}")
        return " · ".join(parts)


def duration(seconds: float) -> str:
    """Short words for a time."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _asking_model(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "thinking"


def _answering(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "answering"


def _response(state: RunState, data: Mapping[str, Any]) -> None:
    usage = data.get("usage") or {}
    total = usage.get("total_tokens")
    state.tokens += total or _number(usage, "input_tokens") + _number(usage, "output_tokens")
    cost = usage.get("cost", usage.get("cost_usd"))
    if not isinstance(cost, int | float):
        cost = _list_price(data.get("model"), dict(usage))
    if cost:
        state.cost = (state.cost or 0.0) + cost


def _list_price(model: Any, usage: dict[str, Any]) -> float:
    """What the tokens cost by the price list; nothing where the model has no price."""
    if not isinstance(model, str) or not usage:
        return 0.0
    from amplifier_foundation.hooks.cost_control import compute_cost, find_price

    _, money = compute_cost(usage, find_price(model, {}, None))
    return money


def _number(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) else 0


def _tool(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = f"running {data.get('tool_name', 'a tool')}"


def _tool_done(state: RunState, data: Mapping[str, Any]) -> None:
    state.tools += 1
    state.doing = "thinking"


def _denied(state: RunState, data: Mapping[str, Any]) -> None:
    state.denied += 1


def _asked(state: RunState, data: Mapping[str, Any]) -> None:
    state.asked += 1
    state.doing = "waiting for a decision"


_STEPS: dict[str, Callable[[RunState, Mapping[str, Any]], None]] = {
    events.PROVIDER_REQUEST: _asking_model,
    events.CONTENT_BLOCK_DELTA: _answering,
    events.PROVIDER_RESPONSE: _response,
    events.TOOL_PRE: _tool,
    events.TOOL_POST: _tool_done,
    events.TOOL_ERROR: _tool_done,
    events.POLICY_VIOLATION: _denied,
    events.APPROVAL_REQUIRED: _asked,
}
