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


class Plan:
    """What one event runs, in order; nobody changes it, so an emit keeps what it started with."""

    __slots__ = ("calls", "entries", "in_turn", "mode", "quiet", "untimed")

    def __init__(
        self, event: str = "", entries: Iterable[PlanEntry] = (), mode: Mode = "enforce"
    ) -> None:
        self.entries = entries = tuple(entries)
        self.mode = mode
        # How many of them run one after another; the others only observe, side by side.
        self.in_turn = sum(not record.parallel for _, _, record in entries)
        plain = all(name == event and _is_coroutine_function(call) for call, name, _ in entries)
        # The bare handlers, if all are coroutine functions without limits that see this name.
        self.calls = tuple(record.handler for _, _, record in entries) if plain else None
        # How often all of them were called and said nothing; counted for each hook later.
        self.quiet = 0
        # The bits of `quiet` that must be zero for the calls to be timed.
        self.untimed = 0

    def time_calls(self) -> list[Any]:
        """The bare handlers, each of which takes its time: at first always, then now and then."""
        self.untimed = 0 if self.quiet < 16 else 511
        return [partial(_take_time, record) for _, _, record in self.entries]

    def count_quiet(self, end: int | None = None) -> None:
        """Count the calls that were not counted yet; with `end`, one for each hook before that."""
        times, self.quiet = (self.quiet, 0) if end is None else (1, self.quiet)
        for _, _, record in self.entries[:end] if times else ():
            record.counts.calls += times


async def _take_time(record: HookHandler, event: str, data: dict[str, Any]) -> Any:
    started, handler = perf_counter(), cast("Any", record.handler)
    try:
        return await handler(event, data)
    finally:
        record.counts.count_time(perf_counter() - started)


def _is_coroutine_function(call: Any) -> bool:
    return type(call) in (FunctionType, MethodType) and bool(call.__code__.co_flags & CO_COROUTINE)
