"""Who hears what, looked up in one thread while another registers: no hook is ever passed over.

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

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult

TRACED = {HookRegistry.look_up.__code__, HookRegistry._forget_plans.__code__}
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


@pytest.mark.parametrize("seed", range(800))
def test_a_hook_that_comes_while_it_is_looked_up_is_heard(seed: int) -> None:
    """The one that comes meanwhile, and the next, whichever opcode the threads stood at."""
    chance = random.Random(seed)
    registry = HookRegistry()
    registry.look_up()
    assert not registry.heard["tool:pre"]
    if chance.random() < 0.5:  # else two look it up, who did not know of each other
        registry.register("made:up", hook)
    runners = [Runner(registry.look_up), Runner(lambda: registry.register("tool:pre", hook))]
    while not all(one.is_over for one in runners):
        one = chance.choice(runners)
        for _ in range(chance.choice(BURSTS[seed % 2])):
            one.step()
    assert registry.heard["tool:pre"]
    registry.register("tool:post", hook)
    assert registry.heard["tool:post"]
