"""The state of a run: what its events add up to so far, nothing shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from amplifier_core import events


@dataclass(slots=True)
class RunState:
    """Time, tokens, cost, failed hooks, and what the run is doing right now."""

    clock: Callable[[], float] = time.monotonic
    started: float = 0.0
    tokens: int = 0
    cost: float | None = None
    ended: float | None = None
    doing: str = "starting"
    running: list[str] = field(default_factory=list)
    """The tools that run right now, in the order they were called."""
    stopping: bool = False
    hook_failures: int = 0

    def __post_init__(self) -> None:
        self.started = self.clock()

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, until it ended."""
        return (self.clock() if self.ended is None else self.ended) - self.started

    def end(self) -> None:
        """Stop the clock."""
        self.ended = self.clock()

    def count(self, event: str, data: Mapping[str, Any]) -> None:
        """Count one event."""
        note = _NOTES.get(event)
        if note is not None:
            note(self, data)
        if self.stopping:
            self.doing = "stopping"

    def stop(self) -> None:
        """The person wants the run to stop; until it has, that is what it is doing."""
        self.stopping = True
        self.doing = "stopping"

    def summarize(self) -> str:
        """Time, tokens and cost, as far as they are known."""
        parts = [format_duration(self.elapsed)]
        if self.tokens:
            parts.append(f"{self.tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"${self.cost:.4f}" if self.cost < 1 else f"${self.cost:.2f}")
        if self.hook_failures:
            parts.append(f"{self.hook_failures} hook failure{'s' * (self.hook_failures != 1)}")
        return " · ".join(parts)


def format_duration(seconds: float) -> str:
    """Seconds, or minutes and seconds."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def _note_request(state: RunState, data: Mapping[str, Any]) -> None:
    state.running.clear()
    state.doing = "thinking"


def _note_delta(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "answering"


def _note_response(state: RunState, data: Mapping[str, Any]) -> None:
    usage = data.get("usage") or {}
    total = usage.get("total_tokens")
    state.tokens += total or _get_number(usage, "input_tokens") + _get_number(
        usage, "output_tokens"
    )
    cost = usage.get("cost", usage.get("cost_usd"))
    if not isinstance(cost, int | float):
        cost = _compute_price(data.get("model"), dict(usage))
    if cost:
        state.cost = (state.cost or 0.0) + cost


def _compute_price(model: Any, usage: dict[str, Any]) -> float:
    """What the tokens cost by the price list; nothing where the model has no price."""
    if not isinstance(model, str) or not usage:
        return 0.0
    from amplifier_hooks.guards.cost_control import compute_cost, find_price

    _, money = compute_cost(usage, find_price(model, {}, None))
    return money


def _get_number(usage: Mapping[str, Any], key: str) -> int:
    value = usage.get(key)
    return value if isinstance(value, int) else 0


def _note_call(state: RunState, data: Mapping[str, Any]) -> None:
    state.running.append(str(data.get("tool_name", "a tool")))
    _note_tools(state)


def _note_result(state: RunState, data: Mapping[str, Any]) -> None:
    name = str(data.get("tool_name", "a tool"))
    if name in state.running:
        state.running.remove(name)
    _note_tools(state)


def _note_violation(state: RunState, data: Mapping[str, Any]) -> None:
    if data.get("event") == events.TOOL_PRE:
        _note_result(state, data)


def _note_tools(state: RunState) -> None:
    """Name each tool once, with the number of its calls."""
    counted = {name: state.running.count(name) for name in state.running}
    names = [f"{count} × {name}" if count > 1 else name for name, count in counted.items()]
    state.doing = f"running {', '.join(names)}" if names else "thinking"


def _note_question(state: RunState, data: Mapping[str, Any]) -> None:
    state.doing = "waiting for a decision"


_NOTES: dict[str, Callable[[RunState, Mapping[str, Any]], None]] = {
    events.PROVIDER_REQUEST: _note_request,
    events.CONTENT_BLOCK_DELTA: _note_delta,
    events.PROVIDER_RESPONSE: _note_response,
    events.TOOL_PRE: _note_call,
    events.TOOL_POST: _note_result,
    events.TOOL_ERROR: _note_result,
    events.POLICY_VIOLATION: _note_violation,
    events.APPROVAL_REQUIRED: _note_question,
}
