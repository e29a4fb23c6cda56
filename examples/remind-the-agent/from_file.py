"""Remind the agent of a file with the rules of the house, as it is right now.

Listens to  prompt:submit
Answers     inject_context (ephemeral), or continue
"""

from pathlib import Path
from typing import Any

from amplifier_core import HookResult, hook

LONGEST = 2_000  # every request pays for it


@hook("prompt:submit", priority=20)
async def remind_of_the_rules(event: str, data: dict[str, Any]) -> HookResult:
    """Ephemeral: part of the next request, never of the history."""
    rules = Path(__file__).with_name("HOUSE_RULES.md")  # the process may run elsewhere
    if not rules.is_file():
        return HookResult(user_message=f"{rules} is missing; nobody was reminded")
    text = rules.read_text(encoding="utf-8")[:LONGEST]
    return HookResult(action="inject_context", context_injection=text, ephemeral=True)
