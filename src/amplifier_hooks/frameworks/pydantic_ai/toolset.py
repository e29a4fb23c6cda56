"""The tools of an agent: each call of one passes the hooks, and nothing stands behind them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import AbstractToolset, CombinedToolset, RunContext, ToolsetTool, WrapperToolset
from pydantic_ai.tools import AgentDepsT

from amplifier_hooks.frameworks.pydantic_ai.calls import ToolUse
from amplifier_hooks.frameworks.pydantic_ai.gate import Gate


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


KNOWN = ("pydantic_ai", "amplifier_hooks")
"""Whose toolsets are known to pass on the calls of all tools that are not their own."""


def leads_to(gate: Gate, toolset: AbstractToolset[Any]) -> bool:
    """Whether calls on a toolset are certain to come to a gate, unless it has tools of its own."""
    if isinstance(toolset, GovernedToolset) and toolset.gate is gate:
        return True
    if isinstance(toolset, CombinedToolset):
        return any(leads_to(gate, one) for one in toolset.toolsets)
    if not isinstance(toolset, WrapperToolset):
        return False
    maker = next(one for one in type(toolset).__mro__ if "call_tool" in vars(one))
    return maker.__module__.split(".")[0] in KNOWN and leads_to(gate, toolset.wrapped)
