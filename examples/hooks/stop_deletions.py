"""Stop the agent from deleting files: the shortest guard there is.

Listens to  tool:pre
Answers     deny, or continue
"""

import asyncio
import shlex
from typing import Any

from amplifier_core import HookRegistry, HookResult
from amplifier_core.interfaces import hook


# A guard: if it raises or takes longer than two seconds, the call is denied.
@hook("tool:pre", on_error="deny", timeout=2)
async def stop_deletions(event: str, data: dict[str, Any]) -> HookResult:
    """Deny commands that call rm anywhere in the line."""
    if data["tool_name"] != "Bash":
        return HookResult(action="continue")
    words = shlex.split(data["tool_input"]["command"])
    if any(word.rpartition("/")[2] == "rm" for word in words):
        reason = "deleting is for people; move the file to trash/ instead"
        return HookResult(action="deny", reason=reason)
    return HookResult(action="continue")


async def main() -> None:
    """Show what it says to three commands."""
    hooks = HookRegistry()
    hooks.register("tool:pre", stop_deletions, on_error="deny", timeout=2)
    for command in ("ls -l", "cd build && /bin/rm -rf .", "echo 'unclosed"):
        call = {"tool_name": "Bash", "tool_input": {"command": command}}
        answer = await hooks.emit("tool:pre", call)
        why = f" ({answer.reason})" if answer.reason else ""
        print(f"{command}: {answer.action}{why}")


if __name__ == "__main__":
    asyncio.run(main())
