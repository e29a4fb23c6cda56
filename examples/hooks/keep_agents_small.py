"""Decide what sub-agents may do: give each a task that ends, and no shell.

Listens to  agent:spawn
Answers     deny, modify
"""

import asyncio
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_core.interfaces import hook


@hook("agent:spawn", on_error="deny")
async def keep_agents_small(event: str, data: dict[str, Any]) -> HookResult:
    """Refuse tasks that nobody could finish; the others get a limit in their task."""
    task = data.get("task") or ""
    if len(task) > 2_000:
        return HookResult(action="deny", reason="split the task: a sub-agent gets one thing to do")
    limited = f"{task}\n\nReport within ten steps, even if you are not finished."
    return HookResult(action="modify", data={**data, "task": limited})


async def main() -> None:
    """Show a task before and after, and one that is refused."""
    hooks = HookRegistry()
    hooks.register("agent:spawn", keep_agents_small, on_error="deny")
    for task in ("Find all uses of parse().", "Rewrite everything. " * 200):
        answer = await hooks.emit("agent:spawn", {"agent_name": "explorer", "task": task})
        print(answer.reason or (answer.data or {})["task"])


if __name__ == "__main__":
    asyncio.run(main())
