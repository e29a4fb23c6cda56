"""A tool call in two halves: the agent asks before it, and reports after it."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_core import events
from amplifier_core.models import ToolResult
from amplifier_core.models.outcome import Outcome
from amplifier_core.tool_call import record_end, start_call
from amplifier_core.utils.copying import is_same
from amplifier_hooks.coding_agents.dialects.incoming import Incoming
from amplifier_hooks.coding_agents.dialects.verdict import UNCHANGED, Verdict
from amplifier_hooks.coding_agents.sessions.handlers import evidence
from amplifier_hooks.coding_agents.sessions.handlers.guest import Guest, judge, notify
from amplifier_hooks.coding_agents.sessions.handlers.turn import pass_on
from amplifier_hooks.coding_agents.sessions.handlers.whereabouts import find_elsewhere
from amplifier_hooks.coding_agents.sessions.open_calls import OpenCall, measure_start
from amplifier_hooks.coding_agents.sessions.passing import Passing


async def before_tool(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """Judge the call, and every part of it; what is allowed here is recorded as started.

    What the agent is to ask its person about may never start.
    """
    guest.count_tool_call()
    passing.call_id = incoming.call_id or f"call_{uuid.uuid4().hex[:12]}"
    verdict = await _judge_call(guest, incoming, passing)
    if verdict.decision == "deny":
        await evidence.note_denial(guest, incoming, passing, verdict.reason)
    return verdict


async def before_expansion(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """A command of the person is about to be expanded: judge what runs then, and the event."""
    passing.call_id = f"call_{uuid.uuid4().hex[:12]}"
    refused = await _judge_parts(guest, incoming, passing)
    if refused is not None:
        return refused
    if passing.question:
        return Verdict(decision="ask", reason=passing.question)
    return await pass_on(guest, incoming, passing)


async def _judge_call(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    call_id = passing.call_id
    wanted = _describe_call(incoming, incoming.data, call_id)
    outcome = await judge(guest, events.TOOL_PRE, wanted)
    if not outcome.allowed:
        return _refuse(outcome, passing)
    left = dict(outcome.data or {})
    if (why := _find_unusable(guest, wanted, left)) is not None:
        return Verdict(decision="deny", reason=why)
    refused = await _judge_parts(guest, incoming, passing)
    refused = refused or await _judge_whereabouts(guest, incoming, left, passing)
    if refused is not None:
        return refused
    going = outcome._replace(handed_over=bool(passing.question))  # also if a part of it is
    why = await start_call(guest.coordinator, going, left, same_tool=True)
    if why is not None:
        return Verdict(decision="deny", reason=why)
    changed = not is_same(left["tool_input"], wanted["tool_input"])
    call = OpenCall(
        id=call_id,
        given=incoming.call_id,
        tool=left["tool_name"],
        input=left["tool_input"],
        asked=dict(wanted["tool_input"]) if changed else {},
        started=time.time(),
        approved=bool(outcome.digest) and not passing.question,
    )
    guest.calls.add(call)
    return _allow(outcome, passing, left["tool_input"] if changed else None)


def _refuse(outcome: Outcome, passing: Passing) -> Verdict:
    """A denial; or, of what waits for an answer that another program gets, that it waits."""
    if outcome.handed_over:
        return Verdict(decision="defer", reason=outcome.denial)
    passing.denied_by = outcome.hook
    return Verdict(decision="deny", reason=outcome.denial)


def _describe_call(incoming: Incoming, data: dict[str, Any], call_id: str) -> dict[str, Any]:
    described: dict[str, Any] = {
        "tool_name": data["tool_name"],
        "tool_input": dict(data["tool_input"]),
        "tool_call_id": call_id,
    }
    if incoming.agent_id:
        described["agent_id"] = incoming.agent_id
    return described


def _find_unusable(guest: Guest, wanted: dict[str, Any], left: dict[str, Any]) -> str | None:
    """What a hook made of the call that the agent cannot be told."""
    if left.get("tool_name") != wanted["tool_name"]:
        name = left.get("tool_name")
        return f"a hook chose another tool ({name!r}), and {guest.dialect.name} cannot be given one"
    if not isinstance(left.get("tool_input"), dict):
        kind = type(left.get("tool_input")).__name__
        return f"A hook left no usable input for {wanted['tool_name']}: {kind}"
    return None


async def _judge_parts(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict | None:
    """Judge what else the call does; returns what is to happen instead, if it must not."""
    for number, part in enumerate(incoming.also, 1):
        wanted = _describe_call(incoming, part, f"{passing.call_id}:{number}")
        outcome = await judge(guest, events.TOOL_PRE, wanted)
        if not outcome.allowed:
            return _refuse(outcome, passing)
        left = outcome.data or {}
        if not is_same(left.get("tool_input"), wanted["tool_input"]):
            why = f"a hook changed a part of this ({wanted['tool_name']}), which cannot be done"
            return Verdict(decision="deny", reason=why)
    return None


async def _judge_whereabouts(
    guest: Guest, incoming: Incoming, left: dict[str, Any], passing: Passing
) -> Verdict | None:
    """Judge the call as it is to run where the agent is now, if that is elsewhere."""
    folder = Path(str(guest.coordinator.get_capability("session.working_dir")))
    given = dict(incoming.data["tool_input"])
    asked = replace(incoming, data={**incoming.data, "tool_input": left["tool_input"]})
    for number, call in enumerate(find_elsewhere(asked, folder), 1):
        wanted = _describe_call(incoming, call, f"{passing.call_id}:there:{number}")
        outcome = await judge(guest, events.TOOL_PRE, wanted)
        if not outcome.allowed:
            return _refuse(outcome, passing)
        seen = (outcome.data or {}).get("tool_input")
        # A hook that changes every such call has changed this one by now.
        if is_same(left["tool_input"], given) and not is_same(seen, wanted["tool_input"]):
            why = f"a hook would change this in {incoming.cwd}, where the agent is, and cannot"
            return Verdict(decision="deny", reason=why)
    return None


def _allow(outcome: Outcome, passing: Passing, changed: dict[str, Any] | None) -> Verdict:
    said = tuple(f"The user allowed this and said: {one}" for one in outcome.comments)
    if passing.question:
        return Verdict(decision="ask", reason=passing.question, tool_input=changed, context=said)
    if outcome.digest:
        reason = "A person approved exactly this."
        return Verdict(decision="allow", reason=reason, tool_input=changed, context=said)
    return Verdict(tool_input=changed)


async def after_tool(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """Record how the call ended, and let the hooks change or withhold what the model reads."""
    given = incoming.data["tool_result"]
    if evidence.is_refusal(given.get("error")):
        return await evidence.note_refusal(guest, incoming)
    if not given["success"] and evidence.repeats_denial(guest, incoming, given.get("error")):
        return Verdict()
    call = await _take_call(guest, incoming, "result", given["success"])
    result = ToolResult(success=given["success"], output=given["output"])
    spent = _record(guest, call, incoming, "returned", result)
    data = {
        "tool_name": call.tool,
        "tool_input": call.input,
        "tool_call_id": call.id,
        "tool_result": given,
        "success": result.success,
        "duration_ms": spent,
    }
    outcome = await judge(guest, events.TOOL_POST, data)
    if not outcome.allowed:
        return Verdict(output=outcome.denial, reason=outcome.denial, withhold=True)
    seen = (outcome.data or {}).get("tool_result", given)
    if is_same(seen, given):
        return Verdict()
    return Verdict(output=seen.get("output", UNCHANGED) if isinstance(seen, dict) else seen)


async def after_failure(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """Record that the call failed, and tell the hooks."""
    error = incoming.data["error"]
    if evidence.is_refusal(error):
        return await evidence.note_refusal(guest, incoming)
    if evidence.repeats_denial(guest, incoming, error):
        return Verdict()
    call = await _take_call(guest, incoming, "failure")
    _record(guest, call, incoming, "raised")
    data = {
        "tool_name": call.tool,
        "tool_input": call.input,
        "tool_call_id": call.id,
        "error": error,
    }
    await notify(guest, events.TOOL_ERROR, data)
    return Verdict()


async def _take_call(
    guest: Guest, incoming: Incoming, shown: str, success: bool = False
) -> OpenCall:
    """The call that is over; one that was never judged here is taken as the agent tells it."""
    tool, given = incoming.data["tool_name"], incoming.data["tool_input"]
    found = guest.calls.take(incoming.call_id, tool, given)
    denied = guest.denied.take(incoming.call_id, tool, given) if found is None else None
    if denied is not None:
        evidence.record_contradiction(guest, incoming, denied, shown, success)
    call_id = incoming.call_id or f"call_{uuid.uuid4().hex[:12]}"
    told = OpenCall(call_id, incoming.call_id, tool, dict(given), {}, time.time())
    call = found or denied or told
    await evidence.note_run(guest, call.id, shown)
    return call


def _record(
    guest: Guest,
    call: OpenCall,
    incoming: Incoming,
    how: str,
    result: ToolResult | None = None,
) -> int:
    spent = incoming.data.get("duration_ms") or (time.time() - call.started) * 1000
    ended = {"tool_name": call.tool, "tool_call_id": call.id}
    return record_end(guest.coordinator, ended, measure_start(spent), how, result)
