"""The gate that each tool call of a run passes once, as late as possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_ai import RunContext, ToolFailed
from pydantic_ai.messages import ToolCallPart

from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.frameworks.pydantic_ai.calls import Execute, ToolUse, call_through_hooks
from amplifier_hooks.frameworks.pydantic_ai.translation.arguments import Arguments
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn


@dataclass(slots=True)
class Gate:
    """Judges a call where its tool is called; if that is elsewhere, where its execution begins.

    Between the two, other capabilities may still change the arguments, so the first is the rule.
    The second is for tools that other capabilities put around the toolset, such as a search, and
    for all of them where it is not certain that a toolset around it passes calls on.
    """

    turn: Turn
    asks: Asking
    _expected: set[str] = field(default_factory=set)
    _calls: dict[str, ToolCallPart] = field(default_factory=dict)
    """Calls under way, as the model wrote them."""
    _judged: dict[str, Arguments] = field(default_factory=dict)
    """Calls under way that were judged where their execution began, with what was allowed."""

    def expect(self, names: Iterable[str]) -> None:
        """Note which tools are called here in this step."""
        self._expected = set(names)

    async def begin_call(
        self,
        ctx: RunContext[Any],
        call: ToolCallPart,
        given: Arguments,
        execute: Execute,
        *,
        is_certain: bool,
    ) -> Any:
        """The execution of a call begins, with hooks of other capabilities inside it.

        `is_certain`: calls of the tools that are expected do arrive where they are called.
        """
        self._calls[call.tool_call_id] = call
        try:
            if is_certain and call.tool_name in self._expected:
                return await execute(given)
            return await self._judge_early(ctx, call, given, execute)
        finally:
            self._calls.pop(call.tool_call_id, None)

    async def _judge_early(
        self, ctx: RunContext[Any], call: ToolCallPart, given: Arguments, execute: Execute
    ) -> Any:
        async def remember(allowed: Arguments) -> Any:
            self._judged[call.tool_call_id] = allowed
            try:
                return await execute(allowed)
            finally:
                self._judged.pop(call.tool_call_id, None)

        tools = ctx.tool_manager.tools if ctx.tool_manager is not None else None
        tool = (tools or {}).get(call.tool_name)
        use = ToolUse(call.tool_name, given, ctx, tool, remember, call)
        return await call_through_hooks(self.turn, use, self.asks)

    def check_call(self, call: ToolCallPart, given: Arguments) -> None:
        """ToolFailed if another capability changed what was judged already."""
        allowed = self._judged.get(call.tool_call_id)
        if allowed is not None and not is_same(allowed, given):
            raise ToolFailed(
                f"{call.tool_name} was not run: another capability changed its arguments after "
                "hooks had judged them"
            )

    async def pass_call(self, use: ToolUse) -> Any:
        """A tool is called."""
        if self.turn.is_covered:
            return await use.execute(use.validated)
        call_id = use.ctx.tool_call_id or ""
        allowed = self._judged.get(call_id)
        if allowed is not None and is_same(allowed, use.validated):
            return await use.execute(use.validated)  # under another name, but this very call
        known = replace(use, call=self._calls.get(call_id))
        return await call_through_hooks(self.turn, known, self.asks)
