"""What a chain of `modify` costs beside bare awaits, and registering what is no plain function."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult
from benchmarks.bench_kernel import EVENT, MANY, SMALL, bare_loop, emitting, quiet, registry_of
from benchmarks.harness import Body, Row, compare, loop_of, report


async def change(event: str, data: dict[str, Any]) -> HookResult:
    """A hook that changes one field, and leaves another for a hook behind it to change again."""
    return HookResult(action="modify", data={**data, "n": 1})


async def rewrite(event: str, data: dict[str, Any]) -> HookResult:
    """A hook that changes what a tool is given."""
    return HookResult(
        action="modify", data={**data, "tool_input": {**data["tool_input"], "content": "y"}}
    )


def chain_of(count: int, hook: Any) -> HookRegistry:
    """A registry with so many of these hooks."""
    hooks = HookRegistry()
    for _ in range(count):
        hooks.register(EVENT, hook)
    return hooks


def bare_chain(count: int) -> Body:
    """The same hooks by hand: each gets what the one before it left."""
    handlers = [change] * count

    async def run() -> dict[str, Any]:
        data = SMALL
        for handler in handlers:
            answer = await handler(EVENT, data)
            data = answer.data or {}
        return data

    return loop_of(run)


def modifying() -> list[Row]:
    """Beside bare awaits of hooks that do nothing, and beside the same hooks by hand."""
    rows = []
    for count in (1, 10):
        emit = emitting(chain_of(count, change), SMALL)
        what = f"modify, {count} hooks"
        rows += [
            compare(f"{what}, in bare awaits", bare_loop(count, SMALL), emit),
            compare(f"{what}, in the same hooks by hand", bare_chain(count), emit),
        ]
    emit = emitting(chain_of(10, rewrite), SMALL)
    rows.append(compare("modify of a nested field, 10 hooks", bare_loop(10, SMALL), emit))
    return rows


class Hook:
    """A hook that is an object."""

    async def __call__(self, event: str, data: dict[str, Any]) -> HookResult:
        return await quiet(event, data)


async def three(event: str, data: dict[str, Any], more: int = 1) -> HookResult:
    return await quiet(event, data)


async def named(name: str, event: str, data: dict[str, Any]) -> HookResult:
    return await quiet(event, data)


@wraps(quiet)
async def decorated(*args: Any, **more: Any) -> HookResult:
    return await quiet(*args, **more)


def registering() -> list[Row]:
    """Beside a function of two arguments."""
    kinds: dict[str, Any] = {
        "defaults": three,
        "a partial": partial(named, "x"),
        "an object": Hook(),
        "a bound method": Hook().__call__,
        "a decorated function": decorated,
    }
    rows = []
    for count in (0, MANY):
        hooks = registry_of(count)
        for what, handler in kinds.items():
            spent = _best_microseconds(hooks, handler)
            plain = _best_microseconds(hooks, quiet)
            rows.append(Row(f"register {what} at {count:,}", spent / plain, None, plain, spent))
    return rows


def _best_microseconds(hooks: HookRegistry, handler: Any) -> float:
    best = float("inf")
    for _ in range(300):
        started = time.perf_counter()
        undo: list[Callable[[], None]] = [hooks.register(EVENT, handler) for _ in range(20)]
        best = min(best, time.perf_counter() - started)
        for remove in undo:
            remove()
    return best / 20 * 1e6


def main() -> None:
    report("Changing data, and registering", [*modifying(), *registering()])


if __name__ == "__main__":
    main()
