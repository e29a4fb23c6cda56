"""Agents of Mastra, behind the TypeScript client."""

from __future__ import annotations

from typing import Any, ClassVar

from amplifier_hooks.frameworks import Governor
from tests.adapters.drivers.driver import Ran, Step
from tests.support.typescript import CANNOT, NodeDriver, need_build, read_calls

need_build("mastra")


class MastraDriver(NodeDriver):
    """Agents of Mastra, behind the TypeScript client."""

    name: ClassVar[str] = "mastra"
    kind: ClassVar[str] = "mastra"
    cannot: ClassVar[dict[str, str]] = CANNOT

    def keep(self, told: dict[str, Any]) -> Ran:
        return Ran(told["answer"], read_calls(told), told["requests"], told["pieces"])

    async def run_with_mcp(
        self, hooks: Governor, script: list[Step], prompt: str = "Do it."
    ) -> Ran:
        return await self.work_with_mcp(hooks, script, prompt)

    async def stream(self, hooks: Governor, script: list[Step], prompt: str = "Do it.") -> Ran:
        return await self.work(hooks, script, prompt, how="stream")


DRIVER_CLASS = MastraDriver
