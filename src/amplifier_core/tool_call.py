"""The one path of a tool call: hooks and gates, the tool, hooks again.

`call_tool` is the whole path. Where another program runs the tool and only tells before and after
it, that program's half is `before_tool`, then `after_tool` or `after_failure`: the same functions
that `call_tool` is made of.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from amplifier_core import events
from amplifier_core.answers import ASKED_ELSEWHERE, Outcome, describe_denial
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.errors import UnknownTool
from amplifier_core.gatekeeper import digest_operation
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult, add_comments, read_changed_result, read_tool_result
from amplifier_core.operation import KERNEL
from amplifier_core.output import Uncaptured
from amplifier_core.payloads import ErrorDetails, ToolErrorData, ToolPostData, ToolPreData
from amplifier_core.records import DenialContradicted, DigestMismatch, ToolFinished, ToolStarted
from amplifier_core.utils import describe_error, digest, is_awaitable, is_being_cancelled
from amplifier_core.utils.copying import is_same
from amplifier_core.utils.slots import Slot

STOPPED = "The call was not run: the user asked to stop."


@dataclass(frozen=True, slots=True)
class JudgedCall:
    """A tool call as hooks and people left it, before it runs."""

    call: dict[str, Any]
    """Its `tool_name`, `tool_input` and `tool_call_id`, as they may run; empty if it was denied."""
    outcome: Outcome
    tool: Any = None
    """The tool that the call names now."""
    is_same_tool: bool = True
    """Whether that is the tool it was judged for; a person allowed no other."""
    refusal: ToolResult | None = None
    """What the agent reads instead of a result, if the call must not run."""


@dataclass(frozen=True, slots=True)
class JudgedResult:
    """What hooks made of a tool's result."""

    outcome: Outcome
    tool_result: Any
    """The result as they left it, in the form in which they were told of it."""
    is_changed: bool = False

    def apply_to(self, result: ToolResult) -> ToolResult:
        """What the agent reads: the tool's own result, what hooks left of it, or the denial."""
        if not self.outcome.allowed:
            return ToolResult.refused(self.outcome.denial)
        if self.is_changed:
            return read_changed_result(self.tool_result)
        return result


async def call_tool(
    coordinator: SessionCoordinator, call: ToolCall, tools: Mapping[str, Any] | None = None
) -> ToolResult:
    """Run a tool call through its hooks; whatever goes wrong is a result that the agent reads."""
    available: Mapping[str, Any] = coordinator.get("tools") if tools is None else tools
    requested: ToolPreData = {
        "tool_name": call.name,
        "tool_input": call.arguments,
        "tool_call_id": call.id,
    }
    count_call(coordinator)
    async with coordinator.tool_calls():
        problem = call.parse_error
        if not problem and call.name not in available:
            problem = str(UnknownTool(call.name, available))
        if problem:
            return await _fail(coordinator, requested, "InvalidToolCall", problem)
        slot = Slot(coordinator.slots)
        try:
            if not slot.open():
                await slot.take()
                if coordinator.cancellation.is_cancelled:
                    return ToolResult.failed(STOPPED)
            judged = await before_tool(coordinator, requested, available)
            if judged.refusal is not None:
                return judged.refusal
            await slot.take()  # a hook that called a tool gave it up
            result = await _run(coordinator, judged)
            comments = judged.outcome.comments
            if comments:
                return add_comments(result, comments)
            return result
        finally:
            slot.close()


def count_call(coordinator: SessionCoordinator) -> None:
    """Count a call in the figures of the session."""
    stats = coordinator.get_capability("session.stats")
    if stats is not None:
        stats["tool_invocations"] += 1


# Before the tool


async def before_tool(
    coordinator: SessionCoordinator, requested: ToolPreData, tools: Mapping[str, Any]
) -> JudgedCall:
    """Take a call through hooks and gates, and record that it starts, unless it is refused."""
    judged = await judge_call(coordinator, requested, tools)
    if judged.refusal is not None:
        return judged
    if judged.outcome.handed_over:  # no other program asks before it runs here
        await coordinator.handovers.withdraw(events.TOOL_PRE, requested.get("tool_call_id", ""))
        return _refuse(judged, describe_denial(KERNEL, ASKED_ELSEWHERE))
    reason = await start_call(coordinator, judged.outcome, judged.call, judged.is_same_tool)
    if reason is None:
        return judged
    return _refuse(judged, describe_denial(KERNEL, reason))


async def judge_call(
    coordinator: SessionCoordinator, requested: ToolPreData, tools: Mapping[str, Any]
) -> JudgedCall:
    """Take a call through hooks and gates; refused is also what they left in no usable form.

    The caller runs `start_call` next, unless the call is refused.
    """
    tool_before = tools.get(requested["tool_name"])
    outcome = await coordinator.judge(events.TOOL_PRE, requested)
    if not outcome.allowed:
        return JudgedCall({}, outcome, refusal=ToolResult.refused(outcome.denial))
    call = outcome.data or {}
    name = call.get("tool_name")
    tool_input = call.get("tool_input")
    tool = tools.get(str(name))
    problem = ""
    if tool is None:
        problem = str(UnknownTool(str(name), coordinator.get("tools")))
    elif not isinstance(tool_input, dict):
        problem = f"A hook left no usable input for {name}: {type(tool_input).__name__}"
    refusal = ToolResult.failed(problem) if problem else None
    return JudgedCall(call, outcome, tool, tool is tool_before, refusal)


def _refuse(judged: JudgedCall, sentence: str) -> JudgedCall:
    return replace(judged, refusal=ToolResult.refused(sentence))


async def start_call(
    coordinator: SessionCoordinator, outcome: Outcome, call: dict[str, Any], same_tool: bool
) -> str | None:
    """Record that the call starts; returns why it must not, if it is not what a person allowed.

    Whether a call that was handed over will start is not known yet: nothing is recorded.
    """
    trail = coordinator.trail
    name = call.get("tool_name")
    gated = bool(outcome.digest)
    if not gated and not (trail.records and trail.records_each_event):
        return None
    found = digest_operation(events.TOOL_PRE, call)
    start = ToolStarted(tool=name, id=call.get("tool_call_id"), digest=found, gated=gated)
    if not gated:
        if not outcome.handed_over:
            trail.write(start, event=events.TOOL_PRE)
        return None
    if not same_tool:
        return f"{name} was replaced while it waited for approval"
    if found != outcome.digest:
        trail.write(DigestMismatch(approved=outcome.digest, found=found), event=events.TOOL_PRE)
        return f"the input of {name} is not what was approved"
    if outcome.handed_over:
        return None
    # What a person had to allow is on disk before it runs.
    return await trail.write_ahead(start, event=events.TOOL_PRE)


# The tool


async def _run(coordinator: SessionCoordinator, judged: JudgedCall) -> ToolResult:
    call = judged.call
    tool = judged.tool
    call_id = str(call.get("tool_call_id"))
    coordinator.cancellation.register_tool_start(call_id, call.get("tool_name", ""))
    started = time.perf_counter()
    try:
        with Uncaptured():  # a hook may have called the tool
            answer = tool.execute(call["tool_input"])
            if is_awaitable(answer):
                answer = await answer
        result = read_tool_result(answer)
    except asyncio.CancelledError:
        record_end(coordinator, call, started, "cancelled")
        if is_being_cancelled():
            raise
        return await _fail(coordinator, call, "CancelledError", "the tool cancelled itself")
    except getattr(tool, "steering", ()):  # exceptions by which a framework goes on elsewhere
        record_end(coordinator, call, started, "interrupted")
        raise
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; the agent reads it
        record_end(coordinator, call, started, "raised")
        return await _fail(coordinator, call, type(error).__name__, describe_error(error))
    finally:
        coordinator.cancellation.register_tool_complete(call_id)
    judged_result = await after_tool(coordinator, call, started, result)
    return judged_result.apply_to(result)


async def _fail(
    coordinator: SessionCoordinator, call: Mapping[str, Any], kind: str, why: str
) -> ToolResult:
    await after_failure(coordinator, call, {"type": kind, "message": why})
    return ToolResult.failed(why)


# After the tool


async def after_tool(
    coordinator: SessionCoordinator,
    call: Mapping[str, Any],
    started: float,
    result: ToolResult,
    told: Any = None,
) -> JudgedResult:
    """Record that the tool returned, and let hooks change or withhold the result.

    `started` is by `perf_counter`. `told` is the result as hooks are told of it, where that is not
    simply its fields.
    """
    spent = record_end(coordinator, call, started, "returned", result)
    if told is None:
        told = {"success": result.success, "output": result.output, "error": result.error}
    returned: ToolPostData = {
        "tool_name": call["tool_name"],
        "tool_input": call["tool_input"],
        "tool_call_id": call.get("tool_call_id", ""),
        "tool_result": told,
        "success": result.success,
        "duration_ms": spent,
    }
    outcome = await coordinator.judge(events.TOOL_POST, returned)
    left = (outcome.data or {}).get("tool_result", told)
    is_changed = bool(outcome.answers) and not is_same(left, told)
    return JudgedResult(outcome, left, is_changed)


async def after_failure(
    coordinator: SessionCoordinator, call: Mapping[str, Any], error: ErrorDetails
) -> Outcome:
    """Tell hooks of a call that did not run to its end; `record_end` comes before, if it began.

    What they answer has no effect; the outcome has it, for callers that say so.
    """
    failed: ToolErrorData = {
        "tool_name": call["tool_name"],
        "tool_input": call["tool_input"],
        "tool_call_id": call.get("tool_call_id", ""),
        "error": error,
    }
    return await coordinator.judge(events.TOOL_ERROR, failed)


def record_end(
    coordinator: SessionCoordinator,
    call: Mapping[str, Any],
    started: float,
    how: str,
    result: ToolResult | None = None,
) -> int:
    """Record how the call ended; returns the milliseconds since `started`, by `perf_counter`."""
    spent = int((time.perf_counter() - started) * 1000)
    if coordinator.trail.records:
        body = ToolFinished(
            tool=call.get("tool_name"), id=call.get("tool_call_id"), outcome=how, ms=spent
        )
        if result is not None:
            body.success = result.success
            body.digest = digest(result.output)
        coordinator.trail.write(body, event=events.TOOL_PRE)
    return spent


def record_denial_contradicted(
    coordinator: SessionCoordinator, event: str, hook: str, body: DenialContradicted
) -> None:
    """Record that another program shows a result of a call which was denied here, and count it."""
    is_hook = any(one.name == hook for one in coordinator.hooks.handlers_for(events.TOOL_PRE))
    if is_hook:
        coordinator.hooks.find_counts(hook, events.TOOL_PRE).contradicted += 1
    named = hook if is_hook else None  # what runs hooks denies, too; the reason says it
    coordinator.trail.write(body, event=event, hook=named)
