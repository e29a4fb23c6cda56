"""A program that plays a run on a display, with a question in the middle."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.models import HookResult
from amplifier_hooks.cli.approval.terminal_approval import TerminalApproval
from amplifier_hooks.cli.display.display import Display, choose_mode, make_display, observe

USAGE = {"input_tokens": 1200, "output_tokens": 34, "total_tokens": 1234, "cost": 0.0123}


async def guard(event: str, data: dict[str, Any]) -> HookResult:
    command = str(data["tool_input"].get("command", ""))
    if "rm -rf" in command:
        return HookResult(action="deny", reason="this would delete everything below /")
    if "deploy" in command:
        return HookResult(
            action="ask_user",
            approval_prompt="Deploy now?",
            approval_timeout=20,
            reason="it is Friday",
        )
    return HookResult(user_message=f"looked at {command}\x1b[2K", user_message_level="warning")


async def call(coordinator: SessionCoordinator, command: str, pause: float) -> None:
    data = {"tool_name": "Bash", "tool_input": {"command": command}}
    before = await coordinator.execute_with_hooks(events.TOOL_PRE, data)
    if before.action == "deny":
        return
    await asyncio.sleep(pause)
    result = {"success": True, "output": "one\ntwo\n", "error": None}
    after = {**data, "tool_result": result, "success": True, "duration_ms": 1234}
    await coordinator.execute_with_hooks(events.TOOL_POST, after)


async def stream(coordinator: SessionCoordinator, text: str, pause: float) -> None:
    await coordinator.execute_with_hooks(events.PROVIDER_REQUEST, {"provider": "p"})
    for word in text.split(" "):
        await coordinator.execute_with_hooks(
            events.CONTENT_BLOCK_DELTA, {"block_index": 0, "delta": f"{word} "}
        )
        await asyncio.sleep(pause)
    await coordinator.execute_with_hooks(events.PROVIDER_RESPONSE, {"usage": USAGE, "response": {}})


async def play(display: Display, pause: float) -> None:
    approval = TerminalApproval(display=display)
    coordinator = SessionCoordinator(
        approval_system=approval, display_system=display, session_id="s1"
    )
    coordinator.hooks.register(events.TOOL_PRE, guard, 0, "command-guard", on_error="deny")
    observe(coordinator.hooks, display, coordinator.scrub)
    display.start()
    await stream(coordinator, "First I look around.\nThen I work on it,", pause)
    await call(coordinator, "git status", pause)
    await call(coordinator, "rm -rf /", pause)
    await call(coordinator, "deploy --now", pause)
    await stream(
        coordinator, "All done: the tests are green\u202e and nothing else changed.", pause
    )
    display.stop()
    display.show_result(response="All done")


if __name__ == "__main__":
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    mode = choose_mode(as_json=wanted == "json")
    asyncio.run(play(make_display(mode), 0.05))
