"""What a thousand registries at once cost beside a thousand bare loops, each in its own task."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Awaitable, Callable, Sequence
from time import process_time
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from benchmarks.bench_kernel import EVENT, SMALL
from benchmarks.harness import Row, report

SESSIONS = 1_000
EMITS = 10
HOOKS = 3
ROUNDS = 12


async def usual(event: str, data: dict[str, Any]) -> HookResult:
    """A hook with nothing to say, as authors write it."""
    return HookResult(action="continue")


def open_sessions() -> list[HookRegistry]:
    """A registry for each session, each with hooks of its own; nothing was emitted yet."""
    opened = [HookRegistry() for _ in range(SESSIONS)]
    for hooks in opened:
        for _ in range(HOOKS):
            hooks.register(EVENT, usual)
    return opened


async def run_session(hooks: HookRegistry) -> None:
    for _ in range(EMITS):
        await hooks.emit(EVENT, SMALL)


async def run_bare(handlers: list[Any]) -> None:
    for _ in range(EMITS):
        for handler in handlers:
            await handler(EVENT, SMALL)


async def measure(new: bool) -> tuple[float, float]:
    """The best times of all bare loops and of all sessions, taken in turn."""
    bare = [[usual] * HOOKS for _ in range(SESSIONS)]
    opened = open_sessions()
    best = [float("inf"), float("inf")]
    for _ in range(ROUNDS):
        if new:
            opened = open_sessions()
        best[0] = min(best[0], await _spend(run_bare, bare))
        best[1] = min(best[1], await _spend(run_session, opened))
    return best[0], best[1]


async def _spend(once: Callable[[Any], Awaitable[None]], each: Sequence[Any]) -> float:
    gc.collect()
    gc.disable()
    try:
        started = process_time()
        await asyncio.gather(*map(once, each))
        return process_time() - started
    finally:
        gc.enable()


def main() -> None:
    rows = []
    for new, which in ((False, "sessions"), (True, "new sessions")):
        base, cost = asyncio.run(measure(new))
        name = f"1,000 {which} at once, 10 emits, CPU"
        rows.append(Row(name, cost / base, 3.0, base * 1e6, cost * 1e6))
    report("A thousand sessions beside bare loops", rows)


if __name__ == "__main__":
    main()
