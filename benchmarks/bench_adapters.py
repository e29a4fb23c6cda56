"""What our hooks add to one tool call of a framework, against a turn of that framework by itself.

The frameworks run offline, with scripted models, so a turn is only their own work; a real one waits
for a model besides. A turn with nine calls minus one with one call is the price of eight calls,
with hooks and without, and the difference of the two is what hooks add: to the framework alone,
and, where it costs something to have any extension, to one that does nothing ("void"). Only
frameworks that are installed here are measured: .venvs/NAME/bin/python -m benchmarks.bench_adapters
"""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Awaitable, Callable
from functools import partial
from time import perf_counter
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_hooks.frameworks import Governor, govern
from benchmarks.harness import Row, report
from tests.adapters.conftest import find_drivers
from tests.adapters.drivers.driver import Call, Driver, Step

ROUNDS = int(os.environ.get("ROUNDS", "25"))
MANY = 9
Run = Callable[[list[Step]], Awaitable[object]]
AT_MOST = 0.10
NOT_MEASURED = frozenset({"by-hand", "claude-agent-sdk"})


async def say_continue(event: str, data: Any) -> HookResult:
    """A hook that looks and lets it pass."""
    return HookResult(action="continue")


def make_hooks() -> Governor:
    """Five hooks: three before a call, two after it."""
    registry = HookRegistry()
    for event, count in (("tool:pre", 3), ("tool:post", 2)):
        for number in range(count):
            registry.register(event, say_continue, name=f"{event} {number}")
    return govern(registry)


def write_script(calls: int) -> list[Step]:
    """So many calls, one after another, then the answer."""
    made: list[Step] = [[Call("note", {"text": "a"}, f"call_{one}")] for one in range(calls)]
    return [*made, "All done."]


async def measure(driver: Driver) -> list[Row]:
    """The best of many interleaved rounds, against the framework alone and a void extension."""
    hooks = make_hooks()
    runs: dict[str, Run] = {
        "alone": lambda script: driver.run(None, script),  # type: ignore[arg-type]
        "ours": lambda script: driver.run(hooks, script),
    }
    if type(driver).run_with_nothing is not Driver.run_with_nothing:
        runs["void"] = driver.run_with_nothing
    best: dict[tuple[str, int], float] = {}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            for calls in (1, MANY):
                spent = await time_run(partial(run, write_script(calls)))
                best[name, calls] = min(spent, best.get((name, calls), spent))
    await hooks.close()
    steps = {name: (best[name, MANY] - best[name, 1]) / (MANY - 1) for name in runs}
    # One call is two requests and a tool; the rest of a measured turn is building the agent.
    turn = min(best["alone", 1], 2 * steps["alone"])
    return [
        compare_steps(f"{driver.name}: five hooks of one call, {name}", steps["ours"] - step, turn)
        for name, step in steps.items()
        if name != "ours"
    ]


def compare_steps(what: str, added: float, turn: float) -> Row:
    """What is added to a step, as a part of a turn."""
    return Row(what, added / turn, AT_MOST, turn * 1e6, added * 1e6)


async def time_run(run: Callable[[], Awaitable[object]]) -> float:
    """The seconds of one turn."""
    gc.collect()
    gc.disable()
    try:
        started = perf_counter()
        await run()
        return perf_counter() - started
    finally:
        gc.enable()


def main() -> None:
    """Measure what is installed here."""
    found = [one for name, one in find_drivers().items() if name not in NOT_MEASURED]
    rows = [row for kind in found for row in asyncio.run(measure(kind()))]
    if rows:
        report("adapters", rows)


if __name__ == "__main__":
    main()
