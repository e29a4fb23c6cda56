"""The plan of an event: which hooks it runs, in order, worked out once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from inspect import CO_COROUTINE
from types import FunctionType, MethodType
from typing import Any

from amplifier_core.events.modes import Mode
from amplifier_core.registration import HookHandler

# The call (None for a hook with limits, which needs more than that), its event name, itself.
PlanEntry = tuple[Any, str, HookHandler]


class Plan:
    """What one event runs, in order; nobody changes it, so an emit keeps what it started with."""

    __slots__ = ("calls", "counted", "due", "entries", "in_turn", "mode", "quiet")

    def __init__(self, event: str, entries: Iterable[PlanEntry], mode: Mode = "enforce") -> None:
        self.entries = entries = tuple(entries)
        self.mode = mode
        calls = [
            call for call, name, _ in entries if name == event and _is_coroutine_function(call)
        ]
        # The bare handlers, if all are coroutine functions without limits that see this name.
        self.calls = tuple(calls) if len(calls) == len(entries) else None
        # How many of them run one after another; the others only observe, side by side.
        self.in_turn = len(entries)
        if self.calls is None:
            self.in_turn -= sum(record.parallel for _, _, record in entries)
        # How often it was run, and how many of these runs were counted for each hook.
        self.quiet = self.counted = 0
        # How often it is run before all hooks are timed again.
        self.due = 7

    def take_turn(self) -> bool:
        """Note a run whose hooks are counted one by one; True if they should be timed."""
        timed = self.quiet < 16 or self.quiet >= self.due
        if self.quiet >= self.due:
            self.due = self.quiet + (8 if self.quiet < 63 else 1024)
        self.quiet += 1
        self.counted += 1
        return timed

    def count_run(self, ran: int, times: Mapping[int, float]) -> None:
        """Count a call for each of the first hooks; if times were taken, for who has one."""
        if not times and ran == len(self.entries):
            self.counted -= 1  # a call of each: counted with the others
            return
        for _, _, record in self.entries[:ran]:
            counts = record.counts
            if not times:
                counts.calls += 1
            elif record.id in times:
                counts.calls += 1
                counts.count_time(times[record.id])

    def count_quiet(self) -> None:
        """Count for each hook the calls that were counted for all."""
        times, self.counted = self.quiet - self.counted, self.quiet
        for _, _, record in self.entries if times else ():
            record.counts.calls += times

    # Of a run that had begun when a registration changed, only this plan knows.
    __del__ = count_quiet


def _is_coroutine_function(call: Any) -> bool:
    if type(call) is FunctionType:
        return bool(call.__code__.co_flags & CO_COROUTINE)
    # What is bound may be anything that can be called.
    code = getattr(call, "__code__", None) if type(call) is MethodType else None
    return code is not None and bool(code.co_flags & CO_COROUTINE)
