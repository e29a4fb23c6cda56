"""What routing through the coordinator costs beside the bare `emit`, and many waiting approvals."""

from __future__ import annotations

import asyncio
import resource
import subprocess
import sys
import time
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from benchmarks.bench_kernel import EVENT, SMALL, registry_of
from benchmarks.harness import Row, compare, loop_of, report

WAITERS = 10_000
MEGABYTES = 100
SECONDS = 1.0


def routed(count: int) -> Row:
    """Hooks that all say continue, output capture included, no audit."""
    hooks = registry_of(count)
    execute = SessionCoordinator(hooks).execute_with_hooks
    return compare(
        f"execute_with_hooks, {count} hooks, beside emit",
        loop_of(lambda: hooks.emit(EVENT, SMALL)),
        loop_of(lambda: execute(EVENT, SMALL)),
        at_most=3,
        rounds=300,
    )


class Nobody:
    """An approval system whose person never answers."""

    async def request_approval(self, *_question: Any) -> str:
        await asyncio.get_running_loop().create_future()
        return "Deny"


async def ask(_event: str, _data: dict[str, Any]) -> HookResult:
    return HookResult(action="ask_user", approval_prompt="Go on?")


def resident_megabytes() -> float:
    """What this process holds at its highest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def waiting() -> tuple[float, float]:
    """Megabytes that 10,000 waiting approvals need, and seconds to cancel them all."""
    hooks = HookRegistry()
    hooks.register(EVENT, ask)
    coordinator = SessionCoordinator(hooks, approval_system=Nobody())
    before = resident_megabytes()
    tasks = [
        asyncio.ensure_future(coordinator.execute_with_hooks(EVENT, SMALL)) for _ in range(WAITERS)
    ]
    for _ in range(20):
        await asyncio.sleep(0)
    held = resident_megabytes() - before
    started = time.process_time()  # what other processes take of the machine is not ours
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    spent = time.process_time() - started
    assert all(task.cancelled() for task in tasks)
    assert asyncio.all_tasks() == {asyncio.current_task()}
    return held, spent


def waiters() -> list[Row]:
    """In a process of its own, so that nothing else counts; the best of three."""
    code = (
        "import asyncio; from benchmarks.bench_coordinator import waiting; "
        "print(*asyncio.run(waiting()))"
    )
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(3)
    ]
    held, spent = (min(float(run.stdout.split()[index]) for run in runs) for index in range(2))
    return [
        Row("10,000 waiting approvals, in 100 MB", held / MEGABYTES, 1, MEGABYTES, held),
        Row("cancelling them, in seconds", spent / SECONDS, 1, SECONDS * 1e6, spent * 1e6),
    ]


def main() -> None:
    report("The coordinator", [routed(1), routed(5), *waiters()])


if __name__ == "__main__":
    main()
