"""Ask a person before the agent deploys, and say exactly what would run.

Listens to  tool:pre
Answers     ask_user, or continue
"""

import asyncio
from typing import Any

from amplifier_core import HookResult, ToolResult
from amplifier_core.interfaces import hook
from amplifier_core.message_models import ToolCall
from amplifier_core.testing import MockTool, ScriptedApproval, TestCoordinator
from amplifier_core.tool_call import call_tool


@hook("tool:pre", on_error="deny")
async def ask_before_deploying(event: str, data: dict[str, Any]) -> HookResult:
    """Deployments wait for a person, one minute at most; then the answer is no."""
    command = data["tool_input"].get("command", "")
    if not command.startswith("deploy "):
        return HookResult(action="continue")
    return HookResult(
        action="ask_user",
        approval_prompt=f"The agent wants to run: {command}",
        approval_options=["Allow once", "Deny"],
        approval_timeout=60,
        approval_default="deny",
        reason="deployments need a person",
    )


async def main() -> None:
    """Run two deployments past somebody who allows the first and refuses the second."""
    person = ScriptedApproval("Allow once", "Deny")
    coordinator = TestCoordinator(approval_system=person)
    coordinator.hooks.register("tool:pre", ask_before_deploying, on_error="deny")
    await coordinator.mount("tools", MockTool("Bash", ToolResult(output="deployed")))
    for place in ("staging", "production"):
        call = ToolCall(id=place, name="Bash", arguments={"command": f"deploy {place}"})
        print(f"deploy {place}:", await call_tool(coordinator, call))
    print("asked:", *person.prompts, sep="\n  ")


if __name__ == "__main__":
    asyncio.run(main())
