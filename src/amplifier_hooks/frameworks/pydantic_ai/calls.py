"""A tool call of Pydantic AI on the one path of tool calls."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic_ai import (
    ApprovalRequired,
    CallDeferred,
    RunContext,
    SkipToolExecution,
    ToolFailed,
    ToolsetTool,
)
from pydantic_ai.messages import ToolCallPart

from amplifier_core.utils.copying import is_same
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.frameworks.pydantic_ai.interrupts import hand_over_to
from amplifier_hooks.frameworks.pydantic_ai.translation import arguments, results
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn

Execute = Callable[[arguments.Arguments], Awaitable[Any]]

STEERING = (ApprovalRequired, CallDeferred, SkipToolExecution)
"""The tool has not failed: the framework goes on with the call elsewhere, later, or without it."""


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool about to be run with objects that the framework has validated."""

    name: str
    validated: arguments.Arguments
    ctx: RunContext[Any]
    tool: ToolsetTool[Any] | None
    execute: Execute
    call: ToolCallPart | None = None
    """As the model wrote it, where that is known."""


async def call_through_hooks(turn: Turn, use: ToolUse, asks: Asking) -> Any:
    """Run the tool as hooks and people allow it; returns or raises what the framework goes on with.

    Hooks judge JSON. The objects that were made of it run untouched, unless the JSON is changed:
    then the tool's own validator makes new ones of it.
    """
    run = turn.use()
    shown = arguments.describe(use.call, use.validated, use.tool, use.ctx)

    async def handle(given: arguments.Arguments) -> Any:
        if is_same(given, shown):
            return await use.execute(use.validated)
        if not arguments.means(shown, use.validated, use.tool, use.ctx):
            raise ToolFailed(
                f"{use.name} was not run: a hook or a person changed its arguments, but another "
                "capability had put objects into them that JSON cannot hold"
            )
        return await use.execute(await arguments.validate(given, use.tool, use.ctx))

    wanted = Wanted(
        name=use.name,
        arguments=shown,
        call_id=use.ctx.tool_call_id or "",
        handler=handle,
        read=results.describe,
        steering=STEERING,
        is_alive=lambda: turn.is_alive,
    )
    hand_over = hand_over_to(use.ctx) if asks == "interrupt" else None
    return results.restore(await run.call(wanted, hand_over))
