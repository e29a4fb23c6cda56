"""The tool round: run all calls of one reply, and add their results in its order."""

from __future__ import annotations

import asyncio
from typing import Any

from amplifier_core.events import DECISION_TOOL_RESOLUTION
from amplifier_core.interfaces import Provider
from amplifier_core.message_models import ChatResponse, ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.payloads import DecisionToolResolutionData
from amplifier_core.tool_call import call_tool
from amplifier_core.utils.conversation import start_adding
from amplifier_hooks.agent.loops.result_text import (
    list_pictures,
    read_result_limit,
    render_result,
)
from amplifier_hooks.agent.loops.turn import Turn
from amplifier_hooks.modules.conversation import ensure_distinct_ids
from amplifier_hooks.modules.recommendations import choose_name

_CANCELLED = ToolResult.failed("The call was cancelled.")
_NOT_RUN = ToolResult.failed("The call was not run: the user asked to stop.")


def read_calls(provider: Provider, response: ChatResponse) -> list[ToolCall]:
    """The calls of a reply, each with an id of its own."""
    parse = getattr(provider, "parse_tool_calls", None)
    calls = parse(response) if parse else response.tool_calls
    if not calls:
        return []
    is_one = type(calls) is list and len(calls) == 1 and calls[0].id
    # A list of one's own: the provider may go on with its.
    return [calls[0]] if is_one else ensure_distinct_ids(calls)


async def run_calls(turn: Turn, calls: list[ToolCall], *, parallel: bool) -> None:
    """Run the calls, add a result for each to the conversation, and count rounds of denials.

    A call that was cancelled has a result too: models refuse a conversation without one.
    """
    results: list[ToolResult | None] = [None] * len(calls)
    under_way = turn.coordinator.tool_calls()
    under_way.begin()
    try:
        if len(calls) == 1:
            results[0] = await _run_one(turn, calls[0])
        else:
            await _run_all(turn, calls, results, parallel=parallel)
    finally:
        try:
            limit = read_result_limit(turn.coordinator.config)
            for call, found in zip(calls, results, strict=True):
                message = _describe_result(turn, call, found or _CANCELLED, limit)
                if (pending := start_adding(turn.context, message)) is not None:
                    await pending
        finally:
            if under_way.end():
                await under_way.place_parked()
    for result in results:
        if result is None or not result.denied:
            turn.denied_in_a_row = 0
            return
    turn.denied_in_a_row += 1


async def _run_all(
    turn: Turn, calls: list[ToolCall], results: list[ToolResult | None], *, parallel: bool
) -> None:
    async def run(place: int) -> None:
        results[place] = await _run_one(turn, calls[place])

    if not parallel:
        for place in range(len(calls)):
            await run(place)
        return
    async with asyncio.TaskGroup() as group:
        for place in range(len(calls)):
            group.create_task(run(place))


async def _run_one(turn: Turn, call: ToolCall) -> ToolResult:
    """Let hooks choose another tool or veto the choice, then run the call."""
    coordinator = turn.coordinator
    if coordinator.cancellation.is_cancelled:
        return _NOT_RUN
    available = list(turn.tools)
    decision: DecisionToolResolutionData = {
        "available_tools": available,
        "selected_tool": call.name,
        "reason": "the model asked for it",
    }
    outcome = await coordinator.judge(DECISION_TOOL_RESOLUTION, decision)
    if not outcome.allowed:
        return ToolResult.refused(outcome.denial)
    chosen = choose_name(outcome, "selected_tool", "tool", call.name, available)
    if chosen != call.name:
        call = call.model_copy(update={"name": chosen})
    return await call_tool(coordinator, call, turn.tools)


def _describe_result(
    turn: Turn, call: ToolCall, result: ToolResult, limit: int | None
) -> dict[str, Any]:
    text = render_result(result, limit)
    if not result.success:  # what a tool raised with is told of, but no hook can change it
        text = turn.coordinator.scrub(text)
    pictures = list_pictures(result) if result.content else None
    return {
        "role": "tool",
        "content": [{"type": "text", "text": text}, *pictures] if pictures else text,
        "tool_call_id": call.id,
        "name": call.name,
        "metadata": {"success": result.success},
    }
