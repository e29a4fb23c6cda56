"""Tool calls, through the hooks."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from strands.middleware import ExecuteToolContext, ToolResultEvent

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.strands.contents import read_arguments
from amplifier_hooks.frameworks.strands.governed_tool import GovernedTool
from amplifier_hooks.frameworks.strands.turns import Turns, find_reason

Next = Callable[[ExecuteToolContext], AsyncGenerator[Any, None]]


class ToolStage:
    """What an agent does around each call of a tool."""

    def __init__(self, governor: Governor, turns: Turns, *, interrupts: bool) -> None:
        self._governor = governor
        self._turns = turns
        self._interrupts = interrupts

    async def run(self, context: ExecuteToolContext, next_fn: Next) -> AsyncGenerator[Any, None]:
        """Have a call judged where its tool is run.

        One outside of an invocation (by the program itself, or in the background) is a run.
        """
        run = self._find_run(context)
        if run is not None:
            async with aclosing(self._call(run, context, next_fn)) as found:
                async for event in found:
                    yield event
            return
        try:
            run = await self._governor.open(STRANDS, str(getattr(context.agent, "name", "")))
        except SessionDenied as error:
            yield _refuse(context, str(error))
            return
        try:
            async with aclosing(self._call(run, context, next_fn)) as found:
                async for event in found:
                    yield event
        finally:
            await run.end(find_reason(None))

    def _find_run(self, context: ExecuteToolContext) -> Run | None:
        """The run of the invocation that waits for the call, if one does."""
        # In the background there is another kind of context, and maybe another loop, which both
        # outlive the invocation.
        if type(context) is not ExecuteToolContext:
            return None
        return self._turns.find(context.agent, context.invocation_state)

    async def _call(
        self, run: Run, context: ExecuteToolContext, next_fn: Next
    ) -> AsyncGenerator[Any, None]:
        if context.tool is None:
            await _tell_unknown(run, context)
        else:
            tool = GovernedTool(context.tool, run, context, interrupts=self._interrupts)
            context = context.replace(tool=tool)
        async for event in next_fn(context):
            yield event


def _refuse(context: ExecuteToolContext, why: str) -> ToolResultEvent:
    identity = context.tool_use["toolUseId"]
    return ToolResultEvent({"toolUseId": identity, "status": "error", "content": [{"text": why}]})


async def _tell_unknown(run: Run, context: ExecuteToolContext) -> None:
    """Tell hooks of a call of a tool that nobody has; the framework answers it."""
    use = context.tool_use
    data = {
        "tool_name": use["name"],
        "tool_input": read_arguments(use["input"]),
        "tool_call_id": use["toolUseId"],
        "error": {"type": "UnknownTool", "message": f"Unknown tool: {use['name']}"},
    }
    await run.tell(events.TOOL_ERROR, data)
