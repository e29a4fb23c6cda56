"""Remind the agent of the house rules with every prompt, without filling the conversation.

Listens to  prompt:submit
Answers     inject_context (ephemeral)
"""

import asyncio
from typing import Any

from amplifier_core import HookResult
from amplifier_core.interfaces import hook
from amplifier_core.testing import MemoryContext, TestCoordinator

RULES = "House rules: British spelling; no new dependencies; tests before code."


@hook("prompt:submit", priority=20)
async def remind_of_the_rules(event: str, data: dict[str, Any]) -> HookResult:
    """Ephemeral: seen in the next request to the model, never stored in the history."""
    return HookResult(action="inject_context", context_injection=RULES, ephemeral=True)


async def main() -> None:
    """Show that the text is there for one request, and not in the history."""
    context = MemoryContext()
    coordinator = TestCoordinator(context=context)
    coordinator.hooks.register("prompt:submit", remind_of_the_rules)
    await coordinator.execute_with_hooks("prompt:submit", {"prompt": "add a parser"})
    waiting = coordinator.ephemeral_injections()
    print("in the next request:", [one["content"] for one in waiting])
    print("in the history:     ", context.get_messages())


if __name__ == "__main__":
    asyncio.run(main())
