"""Replace card numbers in whatever a tool returns, before the agent sees it.

Listens to  tool:post
Answers     modify, or continue
"""

import asyncio
import re
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_core.interfaces import hook

CARD = re.compile(r"\b(?:\d{4}[ -]?){3}\d{4}\b")


# A guard, because a failure would show the agent what it must not see.
@hook("tool:post", on_error="deny")
async def hide_card_numbers(event: str, data: dict[str, Any]) -> HookResult:
    """`modify` takes the whole event data, with the changed part put in."""
    result = data["tool_result"]
    text = str(result.get("output", ""))
    clean, count = CARD.subn("[card number]", text)
    if not count:
        return HookResult(action="continue")
    return HookResult(
        action="modify",
        data={**data, "tool_result": {**result, "output": clean}},
        user_message=f"{count} card number(s) hidden from the agent",
    )


async def main() -> None:
    """Show a result before and after."""
    hooks = HookRegistry()
    hooks.register("tool:post", hide_card_numbers, on_error="deny")
    seen = {"success": True, "output": "Paid with 4111 1111 1111 1111 on Monday."}
    answer = await hooks.emit("tool:post", {"tool_name": "Read", "tool_result": seen})
    print("the tool said: ", seen["output"])
    print("the agent sees:", (answer.data or {})["tool_result"]["output"])


if __name__ == "__main__":
    asyncio.run(main())
