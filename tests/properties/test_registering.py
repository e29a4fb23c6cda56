"""Registering in one thread while another looks up who listens: no hook is ever passed over.

Both run from one opcode with an effect to the next, in the order of a random schedule.
"""

from __future__ import annotations

import random
import sys
import threading
from collections.abc import Callable
from dis import opname
from types import FrameType
from typing import Any

import pytest

from amplifier_core.hooks import HookRegistry, _Registrations
from amplifier_core.models import HookResult

TRACED = {
    HookRegistry.handlers_for.__code__,
    HookRegistry.has_listeners.__code__,
    _Registrations.find.__code__,
}
EFFECTS = {"LOAD_ATTR", "STORE_ATTR", "CALL"}
# How many steps one of them takes before the other may: some faults need either kind of schedule.
BURSTS = ((1,), (1, 1, 1, 2, 2, 3, 4, 6, 9, 30))


async def hook(event: str, data: dict[str, Any]) -> HookResult:
    return HookResult()


class Runner:
    """One thread, which goes on to the next opcode with an effect when it is told to."""

    def __init__(self, work: Callable[[], object]) -> None:
        self._go, self._stands = threading.Semaphore(0), threading.Semaphore(0)
        self.is_over = False
        self._thread = threading.Thread(target=self._run, args=(work,))
        self._thread.start()

    def step(self) -> None:
        """Go on, and return when it stands again or is over."""
        if not self.is_over:
            self._go.release()
            self._stands.acquire()

    def _run(self, work: Callable[[], object]) -> None:
        self._go.acquire()
        sys.settrace(self._trace)
        try:
            work()
        finally:
            sys.settrace(None)
            self.is_over = True
            self._stands.release()

    def _trace(self, frame: FrameType, what: str, _: Any) -> Any:
        if frame.f_code not in TRACED:
            return None
        frame.f_trace_opcodes = True
        if what == "opcode" and opname[frame.f_code.co_code[frame.f_lasti]] in EFFECTS:
            self._stands.release()
            self._go.acquire()
        return self._trace


@pytest.mark.parametrize("seed", range(200))
def test_a_lookup_sees_every_registration_that_was_there_before_it(seed: int) -> None:
    """Whatever comes and goes meanwhile, and whichever opcode the threads stood at."""
    chance = random.Random(seed)
    registry = HookRegistry(HookRegistry())
    place = chance.choice([registry, registry.parent])
    assert place is not None
    place.register(chance.choice(["tool:pre", "tool:*"]), hook, name="guard")
    found: list[str] = []
    heard: list[bool] = []

    def look() -> None:
        found.extend(one.name for one in registry.handlers_for("tool:pre"))
        heard.append(registry.has_listeners("tool:pre"))

    def change() -> None:
        for event in ("tool:pre", "*", "tool:pre"):
            place.register(event, hook, name="other")()

    runners = [Runner(look), Runner(change)]
    while not all(one.is_over for one in runners):
        one = chance.choice(runners)
        for _ in range(chance.choice(BURSTS[seed % 2])):
            one.step()
    assert "guard" in found
    assert heard == [True]
    assert [one.name for one in registry.handlers_for("tool:pre")] == ["guard"]
