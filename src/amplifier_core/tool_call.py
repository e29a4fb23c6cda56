"""The one path of a tool call: hooks, gates, the tool, hooks again."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Mapping
from types import CoroutineType
from typing import Any

from amplifier_core import output
from amplifier_core.approval.passage import digest_operation
from amplifier_core.coordinator import SessionCoordinator, denial_text
from amplifier_core.errors import UnknownTool
from amplifier_core.events import TOOL_ERROR, TOOL_POST, TOOL_PRE
from amplifier_core.isolation import is_same
from amplifier_core.message_models import ToolCall
from amplifier_core.models import HookResult, ToolResult
from amplifier_core.utils import describe_error, digest

RESULT_LIMIT = 200_000
"""Characters of one result that go into a conversation, unless session.tool_result_limit says."""

_FIELDS = frozenset(ToolResult.model_fields)
_BY_KERNEL = "Operation denied by kernel: "


async def call_tool(
    coordinator: SessionCoordinator, call: ToolCall, tools: Mapping[str, Any] | None = None
) -> ToolResult:
    """Run a tool call through its hooks; whatever goes wrong is a result that the agent reads."""
    have: Mapping[str, Any] = coordinator.get("tools") if tools is None else tools
    stats = coordinator.get_capability("session.stats")
    if stats is not None:
        stats["tool_invocations"] += 1
    async with coordinator.tool_calls():
        if call.parse_error or call.name not in have:
            why = call.parse_error or str(UnknownTool(call.name, have))
            return await _failed(coordinator, _payload(call), why, "InvalidToolCall")
        before = have[call.name]
        decision = await coordinator.execute_with_hooks(TOOL_PRE, _payload(call))
        if decision.action == "deny":
            return _denied(denial_text(decision))
        wanted = decision.data or {}
        tool = have.get(str(wanted.get("tool_name")))
        refusal = await _refusal(coordinator, decision, tool, before)
        if refusal is not None:
            return refusal
        result = await _run(coordinator, tool, wanted)
        return _with_comment(result, decision.reason)


def _denied(why: str) -> ToolResult:
    return ToolResult(success=False, error=why, denied=True)


def _with_comment(result: ToolResult, comment: str | None) -> ToolResult:
    """What the person said when allowing the call stands behind the result."""
    if not comment:
        return result
    said = f"{result.get_serialized_output()}\n\n[The user allowed this and said: {comment}]"
    return result.model_copy(update={"output": said})


def _payload(call: ToolCall) -> dict[str, Any]:
    return {"tool_name": call.name, "tool_input": call.arguments, "tool_call_id": call.id}


async def _refusal(
    coordinator: SessionCoordinator, decision: HookResult, tool: Any, before: Any
) -> ToolResult | None:
    """The result of a call that came through its gates and must not run after all."""
    wanted = decision.data or {}
    name, tool_input = wanted.get("tool_name"), wanted.get("tool_input")
    if tool is None:
        return ToolResult.failed(str(UnknownTool(str(name), coordinator.get("tools"))))
    if not isinstance(tool_input, dict):
        kind = type(tool_input).__name__
        return ToolResult.failed(f"A hook left no usable input for {name}: {kind}")
    approved = decision.__dict__.get("_gated")
    if approved is None:
        _started(coordinator, wanted)
        return None
    if tool is not before:
        return _denied(_BY_KERNEL + f"{name} was replaced while it waited for approval")
    found = digest_operation(TOOL_PRE, wanted)
    if found != approved:
        body = {"approved": approved, "found": found}
        coordinator.trail.write("digest_mismatch", body, event=TOOL_PRE)
        return _denied(_BY_KERNEL + f"the input of {name} is not what was approved")
    body = {"tool": name, "id": wanted.get("tool_call_id"), "digest": approved, "gated": True}
    failure = await coordinator.trail.write_ahead("tool_started", body, event=TOOL_PRE)
    return None if failure is None else _denied(_BY_KERNEL + failure)


def _started(coordinator: SessionCoordinator, wanted: dict[str, Any]) -> None:
    """Note a call that nobody had to approve; the others are on disk before they run."""
    if coordinator.trail.normal:
        name, call_id = wanted.get("tool_name"), wanted.get("tool_call_id")
        body = {
            "tool": name,
            "id": call_id,
            "digest": digest_operation(TOOL_PRE, wanted),
            "gated": False,
        }
        coordinator.trail.write("tool_started", body, event=TOOL_PRE)


async def _run(coordinator: SessionCoordinator, tool: Any, wanted: dict[str, Any]) -> ToolResult:
    name, call_id = wanted.get("tool_name", ""), str(wanted.get("tool_call_id"))
    coordinator.cancellation.register_tool_start(call_id, name)
    started = time.perf_counter()
    printing = output.release()
    try:
        answer = tool.execute(wanted["tool_input"])
        awaited = type(answer) is CoroutineType or inspect.isawaitable(answer)
        result = read_tool_result(await answer if awaited else answer)
    except asyncio.CancelledError:
        _finished(coordinator, wanted, {"outcome": "cancelled"}, started)
        if _is_wanted():
            raise
        return await _failed(coordinator, wanted, "the tool cancelled itself", "CancelledError")
    except Exception as error:  # noqa: BLE001 - a tool may raise anything; the agent reads it
        _finished(coordinator, wanted, {"outcome": "raised"}, started)
        return await _failed(coordinator, wanted, describe_error(error), type(error).__name__)
    finally:
        output.restore(printing)
        coordinator.cancellation.register_tool_complete(call_id)
    spent = _finished(coordinator, wanted, {"outcome": "returned", "result": result}, started)
    return await _judged(coordinator, wanted, result, spent)


def _is_wanted() -> bool:
    """Whether somebody cancelled the running task; a CancelledError may also be a tool's own."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _finished(
    coordinator: SessionCoordinator, wanted: dict[str, Any], outcome: dict[str, Any], since: float
) -> int:
    spent = int((time.perf_counter() - since) * 1000)
    if coordinator.trail.sink is not None:
        result = outcome.pop("result", None)
        body = {"tool": wanted.get("tool_name"), "id": wanted.get("tool_call_id"), **outcome}
        if result is not None:
            body |= {"success": result.success, "digest": digest(result.output)}
        coordinator.trail.write("tool_finished", {**body, "ms": spent}, event=TOOL_PRE)
    return spent


async def _judged(
    coordinator: SessionCoordinator, wanted: dict[str, Any], result: ToolResult, spent: int
) -> ToolResult:
    """Let the hooks see the result: they may change it or withhold it."""
    if coordinator.trail.sink is None and not coordinator.hooks.hears(TOOL_POST):
        return result
    told = {"success": result.success, "output": result.output, "error": result.error}
    data = {
        "tool_name": wanted.get("tool_name"),
        "tool_input": wanted["tool_input"],
        "tool_call_id": wanted.get("tool_call_id"),
        "tool_result": told,
        "success": result.success,
        "duration_ms": spent,
    }
    verdict = await coordinator.execute_with_hooks(TOOL_POST, data)
    if verdict.action == "deny":
        return _denied(denial_text(verdict))
    seen = (verdict.data or {}).get("tool_result", told)
    return result if is_same(seen, told) else _changed(seen)


def _changed(seen: Any) -> ToolResult:
    try:
        return read_tool_result(seen)
    except ValueError as error:
        return ToolResult.failed(f"A hook left no usable result: {describe_error(error)}")


async def _failed(
    coordinator: SessionCoordinator, wanted: dict[str, Any], why: str, kind: str
) -> ToolResult:
    data = {key: wanted.get(key) for key in ("tool_name", "tool_input", "tool_call_id")}
    await coordinator.notify(TOOL_ERROR, {**data, "error": {"type": kind, "message": why}})
    return ToolResult.failed(why)


def read_tool_result(answer: Any) -> ToolResult:
    """The ToolResult in what a tool or a hook handed back."""
    if isinstance(answer, ToolResult):
        return answer
    if isinstance(answer, dict) and "success" in answer and answer.keys() <= _FIELDS:
        return ToolResult.model_validate(answer)
    return ToolResult(output=answer)


def render_result(result: ToolResult, limit: int | None = RESULT_LIMIT) -> str:
    """What the agent reads of a result, cut with a sentence where it is over the limit."""
    text = result.get_serialized_output()
    if limit is None or len(text) <= limit:
        return _sendable(text)
    return (
        f"{_sendable(text[:limit])}\n[{len(text) - limit} of {len(text)} characters are left out: "
        f"over the limit of {limit} (session.tool_result_limit). Ask for less at a time.]"
    )


def _sendable(text: str) -> str:
    """Lone surrogates, as odd file names bring them, cannot be sent to any model."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def read_result_limit(plan: Mapping[str, Any]) -> int | None:
    """The limit that a mount plan sets; None is no limit."""
    limit = (plan.get("session") or {}).get("tool_result_limit", RESULT_LIMIT)
    if limit is not None and (type(limit) is not int or limit < 1):
        raise ValueError(f"session.tool_result_limit: a positive number or null, got {limit!r}")
    return limit
