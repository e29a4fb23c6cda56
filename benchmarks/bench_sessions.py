"""What a thousand registries at once cost beside a thousand bare loops, each in its own task.

And how long fifty runs of a framework that begin at once keep the loop from everything else: the
processor time between two beats of a task that only beats, whichever thread spends it.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from time import process_time
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from amplifier_hooks import load_bundle
from amplifier_hooks.external.opening import BundleSource, Settings
from benchmarks.bench_kernel import EVENT, SMALL
from benchmarks.bench_start import make_folders, measure_start
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


RUNS = 50
RUN_ROUNDS = 9
STALL = 2.3
"""Twenty milliseconds, where a Python starts in eight and a half."""


async def measure_stall(source: BundleSource) -> float:
    """The longest time between two beats while so many runs are opened."""
    gaps: list[float] = []

    async def beat() -> None:
        last = process_time()
        while True:
            await asyncio.sleep(0)
            now = process_time()
            gaps.append(now - last)
            last = now

    beats = asyncio.create_task(beat())
    await asyncio.sleep(0)
    opened = await asyncio.gather(*(source.open("benchmark") for _ in range(RUNS)))
    beats.cancel()
    for run in opened:
        await run.end("complete")
    return max(gaps)


async def measure_stalls(folder: Path, *, trail: bool) -> float:
    """The middle of several rounds; in some, Python collects its garbage."""
    bundle = load_bundle(project_dir=folder)
    bundle = bundle.changed(lambda plan: {**plan, "audit": {"enabled": trail}})
    source = BundleSource(bundle, Settings(folder=folder))
    stalls = sorted([await measure_stall(source) for _ in range(1 + RUN_ROUNDS)])
    return stalls[RUN_ROUNDS // 2]


def compare_stalls(place: Path) -> list[Row]:
    """Against the start of a Python."""
    os.environ.update(HOME=str(place), XDG_CONFIG_HOME=str(place), XDG_DATA_HOME=str(place))
    start = min(measure_start([sys.executable, "-c", "pass"], os.environ) for _ in range(10))
    folder = make_folders(place)["five large"]
    rows = []
    for trail, what in ((False, "five hooks"), (True, "five hooks and their trails")):
        stall = asyncio.run(measure_stalls(folder, trail=trail))
        name = f"{RUNS} runs with {what} opened at once: longest stall, × python -c pass"
        rows.append(Row(name, stall / start, STALL, start * 1e6, stall * 1e6))
    return rows


def main() -> None:
    logging.disable(logging.WARNING)
    rows = []
    for new, which in ((False, "sessions"), (True, "new sessions")):
        base, cost = asyncio.run(measure(new))
        name = f"1,000 {which} at once, 10 emits, CPU"
        rows.append(Row(name, cost / base, 3.0, base * 1e6, cost * 1e6))
    with tempfile.TemporaryDirectory() as place:
        rows += compare_stalls(Path(place).resolve())
    report("A thousand sessions beside bare loops", rows)


if __name__ == "__main__":
    main()
