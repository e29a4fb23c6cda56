"""A module with options and state: at most so many calls of each tool in one turn.

Listens to  prompt:submit, tool:pre
Answers     deny, or continue
Configure   calls: how many calls of one tool a turn may make (default 20)

In a bundle:

    hooks:
      - module: limit-tool-calls
        source: ./limit_tool_calls.py
        config: {calls: 5}
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any

from amplifier_core import HookResult
from amplifier_core.testing import TestCoordinator

# What `mount` gets is the coordinator: it registers there, and keeps its state for itself.
NAME = "limit-tool-calls"


async def mount(coordinator: Any, config: dict[str, Any]) -> Callable[[], None]:
    """Start counting; what is returned undoes it."""
    most = config.get("calls", 20)
    if not isinstance(most, int) or most < 1:
        raise ValueError(f"{NAME}: calls must be a positive number, got {most!r}")
    made: Counter[str] = Counter()

    async def start_turn(event: str, data: dict[str, Any]) -> HookResult:
        made.clear()
        return HookResult(action="continue")

    async def count_call(event: str, data: dict[str, Any]) -> HookResult:
        if data.get("judged_again"):  # the same call once more, after a person was asked
            return HookResult(action="continue")
        made[data["tool_name"]] += 1
        if made[data["tool_name"]] > most:
            reason = f"{data['tool_name']} was called {most} times in this turn; sum up instead"
            return HookResult(action="deny", reason=reason)
        return HookResult(action="continue")

    undo = [
        coordinator.hooks.register("prompt:submit", start_turn, name=NAME),
        coordinator.hooks.register("tool:pre", count_call, name=NAME, on_error="deny"),
    ]

    def remove() -> None:
        for one in undo:
            one()

    return remove


async def main() -> None:
    """Two calls are fine, the third is not, and a new turn starts again."""
    coordinator = TestCoordinator()
    await mount(coordinator, {"calls": 2})
    call = {"tool_name": "Search", "tool_input": {}}
    for _ in range(3):
        answer = await coordinator.execute_with_hooks("tool:pre", call)
        print(f"{answer.action} {answer.reason or ''}".rstrip())
    await coordinator.execute_with_hooks("prompt:submit", {"prompt": "go on"})
    print((await coordinator.execute_with_hooks("tool:pre", call)).action)


if __name__ == "__main__":
    asyncio.run(main())
