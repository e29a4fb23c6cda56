"""The plan of an event: which hooks it runs, in order, worked out once."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from inspect import CO_COROUTINE
from time import perf_counter
from types import FunctionType, MethodType
from typing import Any, cast

from amplifier_core.events.modes import Mode
from amplifier_core.registration import HookHandler

# The call (None for a hook with limits, which needs more than that), its event name, itself.
PlanEntry = tuple[Any, str, HookHandler]


class Plan(tuple[PlanEntry, ...]):
    """What one event runs, in order; nobody changes it, so an emit keeps what it started with."""

    in_turn: int = 0
    """How many of them run one after another; the others only observe, side by side."""
    calls: tuple[Any, ...] | None
    """The bare handlers, if all are coroutine functions without limits that see this name."""
    mode: Mode = "enforce"
    quiet: int = 0
    """How often all of `calls` were called and said nothing; counted for each later."""

    @classmethod
    def build(cls, event: str, entries: Iterable[PlanEntry], mode: Mode = "enforce") -> Plan:
        """The plan of an event."""
        plan = cls(entries)
        plan.mode = mode
        plan.in_turn = sum(not record.parallel for _, _, record in plan)
        plain = all(name == event and _is_coroutine_function(call) for call, name, _ in plan)
        plan.calls = tuple(record.handler for _, _, record in plan) if plain else None
        return plan

    def time_calls(self) -> list[Any]:
        """The bare handlers, each of which takes its time."""
        return [partial(_take_time, record) for _, _, record in self]

    def count_quiet(self, end: int | None = None) -> None:
        """Count the calls that were not counted yet; with `end`, one for each hook before that."""
        times, self.quiet = (self.quiet, 0) if end is None else (1, self.quiet)
        for _, _, record in self[:end] if times else ():
            record.counts.calls += times


async def _take_time(record: HookHandler, event: str, data: dict[str, Any]) -> Any:
    started, handler = perf_counter(), cast("Any", record.handler)
    try:
        return await handler(event, data)
    finally:
        record.counts.count_time(perf_counter() - started)


def _is_coroutine_function(call: Any) -> bool:
    return type(call) in (FunctionType, MethodType) and bool(call.__code__.co_flags & CO_COROUTINE)
