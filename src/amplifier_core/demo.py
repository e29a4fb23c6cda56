"""The kernel's own demonstration: five hooks, one tool call after another, told in plain words."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_core.coordinator import SessionCoordinator, denial_text
from amplifier_core.events import PROVIDER_REQUEST, TOOL_POST, TOOL_PRE
from amplifier_core.hooks import HookRegistry
from amplifier_core.models import HookResult


async def no_secrets(_event: str, data: dict[str, Any]) -> HookResult:
    """deny: a key file is never read."""
    if data["tool_input"].get("file_path", "").endswith(".pem"):
        return HookResult(action="deny", reason="private keys stay private")
    return HookResult(action="continue")


async def dry_run(_event: str, data: dict[str, Any]) -> HookResult:
    """modify: `rm` only shows what it would remove."""
    command = data["tool_input"].get("command", "")
    if not command.startswith("rm "):
        return HookResult(action="continue")
    safe = {**data["tool_input"], "command": f"echo would run: {command}"}
    return HookResult(action="modify", data={**data, "tool_input": safe})


async def production_guard(_event: str, data: dict[str, Any]) -> HookResult:
    """ask_user: a person decides about production."""
    path = data["tool_input"].get("file_path", "")
    if not path.startswith("/production/"):
        return HookResult(action="continue")
    return HookResult(
        action="ask_user",
        approval_prompt=f"Allow a write to {path}?",
        approval_options=["Allow once", "Deny"],
    )


async def linter(_event: str, data: dict[str, Any]) -> HookResult:
    """inject_context: the agent reads what the linter found."""
    if data["tool_name"] != "Write":
        return HookResult(action="continue")
    return HookResult(
        action="inject_context",
        context_injection="app.py:3: line too long (104 > 100)",
        user_message="The linter found one issue",
        user_message_level="warning",
    )


async def clock(_event: str, _data: dict[str, Any]) -> HookResult:
    """inject_context for one request only."""
    return HookResult(
        action="inject_context", context_injection="It is Sunday evening.", ephemeral=True
    )


class Conversation:
    """What the agent remembers."""

    def __init__(self) -> None:
        self.messages: list[dict[str, Any]] = []

    def add_message(self, role: str, content: str, metadata: dict[str, Any] | None = None) -> None:
        self.messages.append({"role": role, "content": content, "metadata": metadata or {}})

    def get_messages(self) -> list[dict[str, Any]]:
        return list(self.messages)


class Person:
    """Stands for the person at the keyboard: allows the first question, refuses the second."""

    def __init__(self) -> None:
        self._answers = iter(["Allow once", "Deny"])

    async def request_approval(
        self, prompt: str, options: list[str], timeout: float, default: str
    ) -> str:
        answer = next(self._answers)
        say(f"   asks      {prompt} [{' / '.join(options)}]")
        say(f"   person    {answer}")
        return answer


class Screen:
    """Shows what hooks tell the person."""

    def show_message(self, message: str, level: str, source: str) -> None:
        say(f"   shows     {message} ({level}, from {source})")


def say(line: str) -> None:
    print(line)


async def call(session: SessionCoordinator, tool: str, **tool_input: Any) -> None:
    """One tool call, as a session's loop does it; the tool itself only pretends."""
    shown = " ".join(str(value) for value in tool_input.values())
    say(f"\n-> agent     {tool} {shown}")
    before = await session.execute_with_hooks(
        TOOL_PRE, {"tool_name": tool, "tool_input": tool_input}
    )
    if before.action == "deny":
        say(f"   stopped   {denial_text(before)}")
        return
    data = before.data or {}
    say(f"   runs      {tool} {' '.join(str(value) for value in data['tool_input'].values())}")
    result = {"success": True, "output": "done", "error": None}
    await session.execute_with_hooks(TOOL_POST, {**data, "tool_result": result})


def registry() -> HookRegistry:
    """The five hooks in their places; guards deny when they themselves fail."""
    hooks = HookRegistry()
    hooks.register(TOOL_PRE, no_secrets, priority=-10, name="no-secrets", on_error="deny")
    hooks.register(TOOL_PRE, dry_run, priority=0, name="dry-run")
    hooks.register(TOOL_PRE, production_guard, priority=5, name="production", on_error="deny")
    hooks.register(TOOL_POST, linter, name="linter")
    hooks.register(PROVIDER_REQUEST, clock, name="clock")
    return hooks


async def main() -> None:
    conversation = Conversation()
    session = SessionCoordinator(registry(), conversation, Person(), Screen(), session_id="demo")
    say("Five hooks watch an agent that calls tools.")
    say("\n1. deny: the call does not happen, and the agent reads why")
    await call(session, "Read", file_path="/home/me/server.pem")
    say("\n2. modify: another command runs than the agent asked for")
    await call(session, "Bash", command="rm -r build")
    say("\n3. ask_user: a person decides, and what they saw is what runs")
    await call(session, "Edit", file_path="/production/config.yaml")
    await call(session, "Edit", file_path="/production/users.db")
    say("\n4. inject_context: the agent reads what a hook found, with its source")
    await call(session, "Write", file_path="app.py")
    for message in conversation.messages:
        say(f"   context   {message['role']}: {message['content']}")
        say(f"             from hook {message['metadata']['hook_name']}")
    say("\n5. inject_context, ephemeral: for one model request, never stored")
    request = await session.open_request({"provider": "none", "model": None})
    for message in (request.data or {})["messages"]:
        say(f"   sends     {message['role']}: {message['content']}")
    say(f"   stored    {len(conversation.messages)} message")
    await session.cleanup()


if __name__ == "__main__":
    asyncio.run(main())
