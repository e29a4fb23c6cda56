"""What the registry costs beside the bare loop `for h in handlers: await h(event, data)`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import CONTINUE, HookResult
from benchmarks.harness import Body, Row, calls_of, compare, loop_of, report

EVENT = "tool:pre"
SMALL = {"tool_name": "Write", "tool_input": {"file_path": "/tmp/a.py", "content": "x = 1\n"}}
NESTED = {"rows": [{"id": i, "tags": ["a", "b"]} for i in range(2_000)]}
MANY = 1_000


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
    """An event without hooks, with one, and with many."""
    return [
        compare(
            f"emit, {count:,} handlers",
            bare_loop(count, SMALL),
            emitting(registry_of(count), SMALL),
            rounds=300 if count < MANY else 40,
        )
        for count in (0, 1, 10, MANY)
    ]


def nested() -> Row:
    """A great nested payload and one hook, in the time to write and read it as JSON."""
    hooks = registry_of(1)
    return compare(
        "emit, 1 handler, 10,000 values (in JSON there and back)",
        calls_of(lambda: json.loads(json.dumps(NESTED))),
        emitting(hooks, NESTED),
        rounds=60,
        at_most=1.0,
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


async def change(event: str, data: dict[str, Any]) -> HookResult:
    """A hook that changes one field, and leaves another for a hook behind it to change again."""
    return HookResult(action="modify", data={**data, "n": 1})


def modifying() -> Row:
    """Ten hooks that change the data one after another, beside the same hooks by hand."""
    handlers = [change] * 10

    async def by_hand() -> dict[str, Any]:
        data: dict[str, Any] = SMALL
        for handler in handlers:
            data = (await handler(EVENT, data)).data or {}
        return data

    hooks = HookRegistry()
    for handler in handlers:
        hooks.register(EVENT, handler)
    return compare("modify, 10 handlers", loop_of(by_hand), emitting(hooks, SMALL))


def main() -> None:
    rows = [*emits(), nested(), modifying(), concurrent()]
    report("The registry beside the bare loop", rows)


if __name__ == "__main__":
    main()
