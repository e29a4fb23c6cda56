"""Loops without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import ORCHESTRATOR_COMPLETE, SESSION_END, SESSION_START
from amplifier_core.events.payloads import OrchestratorCompleteData
from amplifier_core.hooks import HookRegistry
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.tool_call import call_tool


class ScriptedOrchestrator:
    """Gives the prepared answers in turn, and then `DONE`."""

    def __init__(self, responses: Sequence[str] = ()) -> None:
        self.responses = list(responses)
        self.call_count = 0

    async def execute(
        self,
        prompt: str,
        context: Any = None,
        providers: Any = None,
        tools: Any = None,
        hooks: Any = None,
        coordinator: Any = None,
        **_: Any,
    ) -> str:
        """Give the next answer, between the events of a session of one turn."""
        number, self.call_count = self.call_count, self.call_count + 1
        answer = self.responses[number] if number < len(self.responses) else "DONE"
        if hooks is not None:
            await hooks.emit(SESSION_START, {"prompt": prompt})
            await hooks.emit(SESSION_END, {"response": answer})
        return answer


class ScriptedLoop:
    """Runs the prepared tool calls through every hook and gate, and says the prepared words."""

    name = "loop-scripted"

    def __init__(
        self, calls: Sequence[tuple[str, dict[str, Any]]] = (), reply: str = "done"
    ) -> None:
        self.calls = list(calls)
        self.reply = reply
        self.results: list[ToolResult] = []

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: HookRegistry,
        coordinator: SessionCoordinator | None = None,
        **_: Any,
    ) -> str:
        """Play the script."""
        host = coordinator or SessionCoordinator(hooks, context)
        for number, (name, given) in enumerate(self.calls, 1):
            call = ToolCall(id=f"call_{number}", name=name, arguments=given)
            self.results.append(await call_tool(host, call, tools))
        complete: OrchestratorCompleteData = {
            "orchestrator": self.name,
            "final_message": {"role": "assistant", "content": self.reply},
            "turn_count": 1,
            "request_count": 0,
            "duration_ms": 0,
            "status": "success",
        }
        await host.notify(ORCHESTRATOR_COMPLETE, complete)
        return self.reply
