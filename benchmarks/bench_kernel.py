"""What the registry costs beside the bare loop `for h in handlers: await h(event, data)`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from bisect import bisect_left, insort
from collections.abc import Callable
from typing import Any

from amplifier_core.hooks import HookHandler, HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from amplifier_core.utils.copying import copy_plain
from benchmarks.harness import Body, Row, calls_of, compare, loop_of, report

EVENT = "tool:pre"
SMALL = {"tool_name": "Write", "tool_input": {"file_path": "/tmp/a.py", "content": "x = 1\n"}}
LARGE = {"tool_name": "Write", "tool_input": {"file_path": "/tmp/a.py", "content": "x" * 1_000_000}}
NESTED = {"rows": [{"id": i, "tags": ["a", "b"]} for i in range(2_000)]}
MANY = 1_000
STARTS = 15


async def quiet(event: str, data: dict[str, Any]) -> HookResult:
    """A hook with nothing to say, as cheap as a hook can be."""
    return CONTINUE


def registry_of(count: int) -> HookRegistry:
    """A registry with so many quiet hooks of one event."""
    hooks = HookRegistry()
    for _ in range(count):
        hooks.register(EVENT, quiet)
    return hooks


def bare_loop(count: int, data: dict[str, Any]) -> Body:
    """The physical limit, the call of a coroutine function included."""
    handlers = [quiet] * count

    async def run() -> HookResult:
        for handler in handlers:
            await handler(EVENT, data)
        return CONTINUE

    return loop_of(run)


def emitting(hooks: HookRegistry, data: dict[str, Any]) -> Body:
    """The same with a registry."""
    emit = hooks.emit
    return loop_of(lambda: emit(EVENT, data))


def emits() -> list[Row]:
    """Small and large payloads, isolation on."""
    return [
        compare(
            f"emit, {count} handlers, {what}",
            bare_loop(count, data),
            emitting(registry_of(count), data),
            rounds=300,
        )
        for what, data in (("small payload", SMALL), ("1 MB string", LARGE))
        for count in (0, 1, 3, 10, 50)
    ]


def nested() -> Row:
    """The extra cost of a great nested payload, in copies of it."""
    hooks = registry_of(10)
    return compare(
        "emit, 10 handlers, 10,000 entries (in copies)",
        calls_of(lambda: copy_plain(NESTED)),
        emitting(hooks, NESTED),
        rounds=60,
    )


def nested_once() -> Row:
    """The same for one hook, in what it takes to write the payload as JSON and read it again."""
    hooks = registry_of(1)
    return compare(
        "emit, 1 handler, 10,000 values (in JSON there and back)",
        calls_of(lambda: json.loads(json.dumps(NESTED))),
        emitting(hooks, NESTED),
        rounds=60,
        at_most=0.6,
    )


def continue_result() -> Row:
    """Building the usual answer, in bare awaits."""
    return compare(
        'HookResult(action="continue")',
        loop_of(lambda: quiet(EVENT, SMALL)),
        calls_of(lambda: HookResult(action="continue")),
    )


def concurrent() -> Row:
    """A thousand emits at once."""
    handlers = [quiet] * 3
    emit = registry_of(3).emit

    async def bare() -> None:
        for handler in handlers:
            await handler(EVENT, SMALL)

    async def thousand(times: int, once: Callable[[], Any]) -> None:
        for _ in range(times):
            await asyncio.gather(*(once() for _ in range(1_000)))

    return compare(
        "1,000 concurrent emits, 3 handlers",
        lambda times: thousand(times, bare),
        lambda times: thousand(times, lambda: emit(EVENT, SMALL)),
        rounds=40,
    )


def many() -> list[Row]:
    """A thousand handlers of one event: in, out, and all of them."""
    return [
        _in_and_out(f"register at {MANY:,} handlers", _inserted, _registered),
        _in_and_out(f"unregister at {MANY:,} handlers", _deleted, _unregistered),
        compare(
            f"emit, {MANY:,} handlers",
            bare_loop(MANY, SMALL),
            emitting(registry_of(MANY), SMALL),
            rounds=40,
        ),
    ]


BATCH = 50
"""So many in a row before the list is brought back to its size, outside the measured time."""


def _in_and_out(what: str, baseline: Callable[[], float], subject: Callable[[], float]) -> Row:
    best = [float("inf"), float("inf")]
    for _ in range(120):
        for side, once in enumerate((baseline, subject)):
            best[side] = min(best[side], once() / BATCH)
    return Row(what, best[1] / best[0], None, best[0] * 1e6, best[1] * 1e6)


_records = [HookHandler(quiet) for _ in range(MANY)]
_hooks = registry_of(MANY)


def _inserted() -> float:
    """The bare thing: a record, sortable by priority, put into its place in a list."""
    started = time.perf_counter()
    for _ in range(BATCH):
        insort(_records, HookHandler(quiet))
    spent = time.perf_counter() - started
    del _records[MANY:]
    return spent


def _deleted() -> float:
    fresh = [HookHandler(quiet) for _ in range(BATCH)]
    _records.extend(fresh)
    started = time.perf_counter()
    for record in fresh:
        del _records[bisect_left(_records, record)]
    return time.perf_counter() - started


def _registered() -> float:
    started = time.perf_counter()
    undo = [_hooks.register(EVENT, quiet) for _ in range(BATCH)]
    spent = time.perf_counter() - started
    for remove in undo:
        remove()
    return spent


def _unregistered() -> float:
    undo = [_hooks.register(EVENT, quiet) for _ in range(BATCH)]
    started = time.perf_counter()
    for remove in undo:
        remove()
    return time.perf_counter() - started


def importing() -> Row:
    """A fresh interpreter each time, interleaved."""
    statements = (
        "import asyncio, logging; from pydantic import BaseModel",
        "import amplifier_core.hooks",
    )
    best = [float("inf"), float("inf")]
    for _ in range(STARTS):
        for side, statement in enumerate(statements):
            best[side] = min(best[side], _import_seconds(statement))
    return Row("import amplifier_core.hooks", best[1] / best[0], None, best[0] * 1e6, best[1] * 1e6)


def _import_seconds(statement: str) -> float:
    code = f"import time; s = time.process_time(); {statement}; print(time.process_time() - s)"
    # Compiled once, as in every installation, whatever this shell says about bytecode.
    with_bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=with_bytecode
    )
    return float(done.stdout)


def main() -> None:
    rows = [*emits(), nested(), nested_once(), continue_result(), concurrent()]
    rows += [*many(), importing()]
    report("The registry beside the bare loop", rows)


if __name__ == "__main__":
    main()
