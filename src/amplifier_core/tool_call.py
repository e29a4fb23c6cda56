"""The one path of a tool call: hooks, gates, the tool, hooks again."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from types import CoroutineType
from typing import Any

from amplifier_core import events, output
from amplifier_core.approval.passage import digest_operation
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import UnknownTool
from amplifier_core.events.payloads import ToolPreData
from amplifier_core.events.tool_data import describe_failure, describe_result
from amplifier_core.isolation import detach
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.models.outcome import ASKED_ELSEWHERE, Outcome, describe_denial
from amplifier_core.models.record_bodies import describe_end
from amplifier_core.models.tool_result import add_comments, read_changed_result, read_tool_result
from amplifier_core.operation import KERNEL
from amplifier_core.utils import describe_error, is_awaitable, is_being_cancelled
from amplifier_core.utils.copying import is_same
from amplifier_core.utils.slots import Slot


async def call_tool(
    coordinator: SessionCoordinator, call: ToolCall, tools: Mapping[str, Any] | None = None
) -> ToolResult:
    """Run a tool call through its hooks; whatever goes wrong is a result that the agent reads."""
    have: Mapping[str, Any] = coordinator.get("tools") if tools is None else tools
    stats = coordinator.get_capability("session.stats")
    if stats is not None:
        stats["tool_invocations"] += 1
    name, given = call.name, call.arguments
    wanted: ToolPreData = {"tool_name": name, "tool_input": given, "tool_call_id": call.id}
    calls = coordinator.tool_calls()
    calls.begin()
    try:
        if (why := call.parse_error) or name not in have:
            why = why or str(UnknownTool(name, have))
            return await _fail(coordinator, wanted, "InvalidToolCall", why)
        slot = Slot(coordinator.slots)
        try:
            if not slot.open():
                await slot.take()
                if coordinator.cancellation.is_cancelled:
                    return ToolResult.failed("The call was not run: the user asked to stop.")
            # It may be gone, if there was no room at once.
            tool = have.get(name) if type(given) is dict else None
            if tool is not None and not coordinator.heard[events.TOOL_PRE]:
                # A tool may change what it gets; the conversation keeps what was asked for.
                return await _run(coordinator, tool, {**wanted, "tool_input": detach(given)})
            return await _judge_and_run(coordinator, slot, wanted, have)
        finally:
            slot.close()
    finally:
        if calls.end():
            await calls.place_parked()


async def _judge_and_run(
    coordinator: SessionCoordinator, slot: Slot, wanted: ToolPreData, have: Mapping[str, Any]
) -> ToolResult:
    before = have.get(wanted["tool_name"])
    outcome = await coordinator.judge(events.TOOL_PRE, wanted)
    if not outcome.allowed:
        return ToolResult.refused(outcome.denial)
    if outcome.handed_over:
        await coordinator.handovers.withdraw(events.TOOL_PRE, wanted["tool_call_id"])
        return ToolResult.refused(describe_denial(KERNEL, ASKED_ELSEWHERE))
    left = outcome.data or {}
    tool = have.get(str(left.get("tool_name")))
    refusal = _refuse_unusable(coordinator, left, tool)
    if refusal is None and (outcome.digest or coordinator.trail.records):
        reason = await start_call(coordinator, outcome, left, tool is before)
        if reason is not None:
            refusal = ToolResult.refused(describe_denial(KERNEL, reason))
    if refusal is not None:
        return refusal
    if slot.lacks_room:
        await slot.take()  # a hook that called a tool gave it up
    result = await _run(coordinator, tool, left)
    return add_comments(result, outcome.comments) if outcome.comments else result


def _refuse_unusable(
    coordinator: SessionCoordinator, left: dict[str, Any], tool: Any
) -> ToolResult | None:
    """Why a call cannot run as hooks left it."""
    name, tool_input = left.get("tool_name"), left.get("tool_input")
    if tool is None:
        return ToolResult.failed(str(UnknownTool(str(name), coordinator.get("tools"))))
    if not isinstance(tool_input, dict):
        kind = type(tool_input).__name__
        return ToolResult.failed(f"A hook left no usable input for {name}: {kind}")
    return None


async def start_call(
    coordinator: SessionCoordinator, outcome: Outcome, left: dict[str, Any], same_tool: bool
) -> str | None:
    """Record that the call starts; returns why it must not, if it is not what a person allowed.

    Of a call that was handed over, nobody knows yet whether it will start: nothing is recorded.
    """
    trail, name, gated = coordinator.trail, left.get("tool_name"), bool(outcome.digest)
    if not gated and not (trail.records and trail.records_each_event):
        return None
    found = digest_operation(events.TOOL_PRE, left)
    start = {"tool": name, "id": left.get("tool_call_id"), "digest": found, "gated": gated}
    if not gated:
        if not outcome.handed_over:
            trail.write("tool_started", start, event=events.TOOL_PRE)
        return None
    if not same_tool:
        return f"{name} was replaced while it waited for approval"
    if found != outcome.digest:
        body = {"approved": outcome.digest, "found": found}
        trail.write("digest_mismatch", body, event=events.TOOL_PRE)
        return f"the input of {name} is not what was approved"
    if outcome.handed_over:
        return None
    # What a person had to allow is on disk before it runs.
    return await trail.write_ahead("tool_started", start, event=events.TOOL_PRE)


async def _run(coordinator: SessionCoordinator, tool: Any, left: dict[str, Any]) -> ToolResult:
    name, call_id = left.get("tool_name", ""), str(left.get("tool_call_id"))
    coordinator.cancellation.register_tool_start(call_id, name)
    started = time.perf_counter()
    printing = output.release()
    try:
        answer = tool.execute(left["tool_input"])
        if type(answer) is CoroutineType or is_awaitable(answer):
            answer = await answer
        result = answer if type(answer) is ToolResult else read_tool_result(answer)
    except asyncio.CancelledError:
        record_end(coordinator, left, started, "cancelled")
        if is_being_cancelled():
            raise
        return await _fail(coordinator, left, "CancelledError", "the tool cancelled itself")
    except getattr(tool, "steering", ()):  # exceptions by which a framework goes on elsewhere
        record_end(coordinator, left, started, "interrupted")
        raise
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; the agent reads it
        record_end(coordinator, left, started, "raised")
        return await _fail(coordinator, left, type(error).__name__, describe_error(error))
    finally:
        output.restore(printing)
        coordinator.cancellation.register_tool_complete(call_id)
    if not coordinator.heard[events.TOOL_POST]:  # nor the trail
        return result
    spent = record_end(coordinator, left, started, "returned", result)
    return await _judge_result(coordinator, left, result, spent)


def record_end(
    coordinator: SessionCoordinator,
    left: Mapping[str, Any],
    started: float,
    outcome: str,
    result: ToolResult | None = None,
) -> int:
    """Record how the call ended; returns the milliseconds since `started`, by `perf_counter`."""
    spent = int((time.perf_counter() - started) * 1000)
    if coordinator.trail.records:
        body = describe_end(left, outcome, result, spent)
        coordinator.trail.write("tool_finished", body, event=events.TOOL_PRE)
    return spent


def record_denial_contradicted(
    coordinator: SessionCoordinator, event: str, hook: str, body: Mapping[str, Any]
) -> None:
    """Record that another program shows a result of a call which was denied here, and count it."""
    is_hook = any(one.name == hook for one in coordinator.hooks.handlers_for(events.TOOL_PRE))
    if is_hook:
        coordinator.hooks.find_counts(hook, events.TOOL_PRE).contradicted += 1
    named = hook if is_hook else None  # what runs hooks denies, too; the reason says it
    coordinator.trail.write("denial_contradicted", body, event=event, hook=named)


async def _judge_result(
    coordinator: SessionCoordinator, left: dict[str, Any], result: ToolResult, spent: int
) -> ToolResult:
    """Let the hooks see the result: they may change it or withhold it."""
    data = describe_result(left, result, spent)
    given = data["tool_result"]
    if coordinator.pass_unheard(events.TOOL_POST, data):
        return result
    outcome = await coordinator.judge(events.TOOL_POST, data)
    if not outcome.allowed:
        return ToolResult.refused(outcome.denial)
    seen = (outcome.data or {}).get("tool_result", given)
    same = not outcome.answers or is_same(seen, given)
    return result if same else read_changed_result(seen)


async def _fail(
    coordinator: SessionCoordinator, call: Mapping[str, Any], kind: str, why: str
) -> ToolResult:
    await coordinator.notify(events.TOOL_ERROR, describe_failure(call, kind, why))
    return ToolResult.failed(why)
