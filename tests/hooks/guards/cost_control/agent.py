"""A session whose model calls cost something."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from amplifier_core.models import HookResult
from tests.support.harness import Harness


class Agent:
    """Plays the model calls of a session."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness

    async def prompt(self, **data: Any) -> HookResult:
        result: HookResult = await self.harness.hooks.emit("prompt:submit", {"prompt": "x", **data})
        return result

    async def request(self) -> HookResult:
        return await self.harness.hooks.emit("provider:request", {"messages": []})

    async def reply(
        self, tokens: int = 100, model: str = "claude-sonnet-5", **more: Any
    ) -> HookResult:
        usage = {"input_tokens": tokens, "output_tokens": 0, **more}
        data = {"provider": "p", "model": model, "response": {}, "usage": usage}
        return await self.harness.hooks.emit("provider:response", data)


async def agent_with(directory: Path, **config: Any) -> Agent:
    harness = Harness(directory)
    await harness.mount("cost_control", config)
    return Agent(harness)
