"""Let the agent push branches of its own, rewritten or not, and nothing else.

Listens to  tool:pre
Answers     deny, or continue
"""

import re
from typing import Any

from amplifier_core import HookResult, hook
from amplifier_hooks.guards.bash import list_all_commands

# The one form that passes. A list of what is forbidden would always miss a spelling.
OWN = re.compile(r"git push (-u )?(--force-with-lease )?origin agent/[\w.-]+")
PUSHES = {"push", "send-pack", "http-push", "subtree"}


@hook("tool:pre", on_error="deny", timeout=10)
async def push_own_branches(event: str, data: dict[str, Any]) -> HookResult:
    """A command that cannot be read raises here, and a guard that raises denies."""
    given = data["tool_input"].get("command")  # of Bash, or of a tool of an MCP server
    if given is None:
        return HookResult(action="continue")
    for command in list_all_commands(given):
        words = {word.value for word in command.words}
        if command.name == "git" and words & PUSHES and not OWN.fullmatch(command.text):
            reason = "push to a branch agent/NAME: git push --force-with-lease origin agent/NAME"
            return HookResult(action="deny", reason=reason)
    return HookResult(action="continue")
