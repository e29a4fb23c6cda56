"""Count tool calls and the time they take, and say it when the session ends.

Listens to  tool:post, tool:error, session:end
Answers     nothing: it only watches
"""

from collections import Counter
from typing import Any

from amplifier_core import HookResult, hook

_calls: Counter[str] = Counter()


@hook("tool:post", "tool:error", parallel=True)
async def count_call(event: str, data: dict[str, Any]) -> None:
    """`parallel`: it runs beside other observers, after everything that decides."""
    _calls[f"{data['tool_name']}{' (failed)' if event == 'tool:error' else ''}"] += 1


@hook("session:end")
async def say_counts(event: str, data: dict[str, Any]) -> HookResult:
    """Whatever a hook wants a person to know is a `user_message`."""
    counts = ", ".join(f"{count} × {name}" for name, count in _calls.most_common())
    return HookResult(action="continue", user_message=f"Tool calls: {counts or 'none'}")
