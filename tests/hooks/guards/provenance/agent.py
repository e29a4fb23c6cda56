"""A session whose agent is played by the test: prompts, results, and what is asked about calls."""

from __future__ import annotations

import json
from typing import Any

from amplifier_core.models import HookResult
from tests.support.harness import Harness
from tests.support.hooks import POST, PRE

PROMPT = "prompt:submit"


class Agent:
    """Says and reads what the test wants, and tells what would be asked."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness

    @classmethod
    async def start(cls, prompt: str = "", **config: Any) -> Agent:
        """A session with the guard, and a first prompt."""
        agent = cls(Harness())
        await agent.harness.mount("provenance", config)
        if prompt:
            await agent.say(prompt)
        return agent

    async def say(self, prompt: str) -> None:
        """A prompt of the person."""
        await self.harness.emit(PROMPT, prompt=prompt, metadata={})

    async def read(self, tool: str, result: Any, **given: Any) -> None:
        """A call that returned."""
        said = {"success": True, "output": result, "error": None}
        await self.harness.emit(
            POST, tool_name=tool, tool_input=given, tool_result=said, success=True, duration_ms=1
        )

    async def want(self, tool: str, **given: Any) -> HookResult:
        """What is answered to a call."""
        return await self.harness.emit(PRE, tool_name=tool, tool_input=given)

    async def asks(self, tool: str, **given: Any) -> bool:
        """Whether a call is asked about."""
        return (await self.want(tool, **given)).action == "ask_user"

    @property
    def state(self) -> dict[str, Any]:
        """The saved state, as it comes back from a file."""
        saved: dict[str, Any] = json.loads(json.dumps(self.harness.coordinator.session_state))
        return saved
