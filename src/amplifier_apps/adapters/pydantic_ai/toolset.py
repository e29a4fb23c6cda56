"""The tools of an agent: each call of one passes the hooks, and nothing stands behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import RunContext, ToolsetTool, WrapperToolset
from pydantic_ai.tools import AgentDepsT

from amplifier_apps.adapters.pydantic_ai.calls import ToolUse
from amplifier_apps.adapters.pydantic_ai.gate import Gate


@dataclass
class GovernedToolset(WrapperToolset[AgentDepsT]):
    """Calls each tool through the gate of the run."""

    gate: Gate

    async def get_tools(self, ctx: RunContext[AgentDepsT]) -> dict[str, ToolsetTool[AgentDepsT]]:
        """The tools, of which the gate notes that they are called here."""
        tools = await self.wrapped.get_tools(ctx)
        self.gate.expect(tools)
        return tools

    async def call_tool(
        self,
        name: str,
        tool_args: dict[str, Any],
        ctx: RunContext[AgentDepsT],
        tool: ToolsetTool[AgentDepsT],
    ) -> Any:
        """Call it, if hooks let it."""

        async def execute(validated: dict[str, Any]) -> Any:
            return await self.wrapped.call_tool(name, validated, ctx, tool)

        return await self.gate.pass_call(ToolUse(name, tool_args, ctx, tool, execute))
