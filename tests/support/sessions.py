"""Sessions for tests: the real loop, context, tools and registry; the model plays a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from amplifier_core.session import AmplifierSession
from amplifier_core.testing import EventRecorder, MemoryAudit, MockTool, RecordingDisplay

Script = Sequence[Mapping[str, Any]]
SESSION_ARGUMENTS = {"session_id", "state", "is_resumed", "parent_id", "parent_hooks"}


def calls(name: str, text: str = "", **tool_input: Any) -> dict[str, Any]:
    """A reply that calls one tool."""
    return {"text": text, "tool_calls": [{"name": name, "input": tool_input}]}


def plan_for(script: Script, *, loop: str = "loop-basic", **more: Any) -> dict[str, Any]:
    """A mount plan whose model plays the script."""
    session = {
        "orchestrator": {"module": loop, "config": more.pop("loop_config", {"retry_delay": 0.0})},
        "context": {"module": "context-simple", "config": more.pop("context_config", {})},
        **more.pop("session", {}),
    }
    provider = {"module": "provider-scripted", "config": {"script": [dict(one) for one in script]}}
    tools = more.pop("tool_modules", [])
    return {"session": session, "providers": [provider], "tools": tools, "hooks": [], **more}


class SessionHarness:
    """A session with everything around it that a test wants to look at; `async with` starts it.

    `more` goes into the plan, except what AmplifierSession takes itself.
    """

    def __init__(
        self,
        script: Script = (),
        *,
        tools: Sequence[MockTool] = (),
        approval: Any = None,
        working_dir: Path | None = None,
        **more: Any,
    ) -> None:
        own = {key: more.pop(key) for key in SESSION_ARGUMENTS & more.keys()}
        self.screen = RecordingDisplay()
        self.trail = MemoryAudit()
        self.heard = EventRecorder()
        self.tools = {tool.name: tool for tool in tools}
        self.plan = plan_for(script, **more)
        self.session = AmplifierSession(
            self.plan,
            approval_system=approval,
            display_system=self.screen,
            audit=self.trail,
            **own,
        )
        self.coordinator = self.session.coordinator
        self.hooks = self.coordinator.hooks
        if working_dir is not None:
            self.coordinator.register_capability("session.working_dir", str(working_dir))

    async def __aenter__(self) -> Self:
        await self.session.initialize()
        for tool in self.tools.values():
            await self.coordinator.mount("tools", tool)
        await self.session.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.cleanup()

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation."""
        return list(self.session.context.get_messages())

    def texts(self, role: str) -> list[str]:
        """What one role said."""
        return [str(one["content"]) for one in self.messages if one["role"] == role]

    def listen(self) -> EventRecorder:
        """Hear everything from here on, after every other hook."""
        self.hooks.register("*", self.heard, priority=10_000, name="heard")
        return self.heard
