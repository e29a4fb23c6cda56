"""What our hooks add to one tool call of a framework, against a turn of that framework by itself.

The frameworks run offline, with scripted models, so a turn is only their own work; a real one waits
for a model besides. Two rows have a whole turn (two requests and two calls) with the five
hooks of a bundle, opened for each, without a trail and with one: its processor time, as a multiple
of the framework's own turn. How long fifty that begin at once hold the loop is in bench_sessions.

In the other rows, a turn with nine calls minus one with one call is the price of eight calls,
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
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
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


BUNDLE = """\
inherit: false
session: {orchestrator: loop-basic, context: context-simple}
hooks:
  - module: five
    source: ./five.py
"""
FIVE = """\
from amplifier_core import HookResult


def make_hook():
    async def say_continue(event, data):
        return HookResult(action="continue")

    return say_continue


async def mount(coordinator, config):
    for event, count in (("tool:pre", 3), ("tool:post", 2)):
        for number in range(count):
            coordinator.hooks.register(event, make_hook(), name=f"{event} {number}")
"""


def make_hook() -> Any:
    """A hook that looks and lets it pass; each is a function of its own, as several hooks are."""

    async def say_continue(event: str, data: Any) -> HookResult:
        return HookResult(action="continue")

    return say_continue


def make_hooks() -> Governor:
    """Five hooks: three before a call, two after it."""
    registry = HookRegistry()
    for event, count in (("tool:pre", 3), ("tool:post", 2)):
        for number in range(count):
            registry.register(event, make_hook(), name=f"{event} {number}")
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


async def measure_turns(driver: Driver, folder: Path) -> list[Row]:
    """Whole turns behind a bundle, in processor time."""
    plain = govern(write_bundle(folder / "plain", ""))
    trail = govern(write_bundle(folder / "trail", f"audit: {{enabled: true, path: {folder}/log}}"))
    calls = [Call("note", {"text": "a"}, f"call_{one}") for one in range(2)]
    runs: dict[str, Governor | None] = {"alone": None, "bundle": plain, "trail": trail}
    best: dict[str, float] = {}
    for _ in range(ROUNDS):
        for name, hooks in runs.items():
            run = partial(driver.run, hooks, [calls, "All done."])  # type: ignore[arg-type]
            spent = await time_run(run, process_time)
            best[name] = min(spent, best.get(name, spent))
    await plain.close()
    await trail.close()
    turn = best["alone"]
    return [
        Row(what, best[name] / turn, at_most, turn * 1e6, best[name] * 1e6)
        for what, name, at_most in (
            (f"{driver.name}: a turn behind a bundle with five hooks", "bundle", 1.3),
            (f"{driver.name}: the same with its trail", "trail", 1.6),
        )
    ]


def write_bundle(folder: Path, more: str) -> Path:
    """A bundle with five hooks in a file of its own."""
    folder.mkdir()
    (folder / "five.py").write_text(FIVE)
    bundle = folder / "amplifier.yaml"
    bundle.write_text(BUNDLE + more)
    return bundle


def compare_steps(what: str, added: float, turn: float) -> Row:
    """What is added to a step, as a part of a turn."""
    return Row(what, added / turn, AT_MOST, turn * 1e6, added * 1e6)


async def time_run(
    run: Callable[[], Awaitable[object]], clock: Callable[[], float] = perf_counter
) -> float:
    """The seconds of one turn."""
    gc.collect()
    gc.disable()
    try:
        started = clock()
        await run()
        return clock() - started
    finally:
        gc.enable()


def main() -> None:
    """Measure what is installed here."""
    found = [one for name, one in find_drivers().items() if name not in NOT_MEASURED]
    rows: list[Row] = []
    for kind in found:
        with TemporaryDirectory() as folder:
            rows += asyncio.run(measure(kind()))
            rows += asyncio.run(measure_turns(kind(), Path(folder)))
    if rows:
        report("adapters", rows)


if __name__ == "__main__":
    main()
