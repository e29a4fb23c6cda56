"""What an agent's events show of its calls: that one ran, that it did not, or that it ran although
it was denied."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

from amplifier_core import events
from amplifier_core.tool_call import record_denial_contradicted
from amplifier_hooks.coding_agents.dialects.incoming import Incoming
from amplifier_hooks.coding_agents.dialects.verdict import Verdict
from amplifier_hooks.coding_agents.sessions import transcripts
from amplifier_hooks.coding_agents.sessions.handlers.guest import Guest, notify
from amplifier_hooks.coding_agents.sessions.open_calls import OpenCall
from amplifier_hooks.coding_agents.sessions.passing import Passing

REFUSED = "guest:permission_denied"
"""The event by which an agent tells that it refused a call by itself."""

_REFUSALS = frozenset({"denied", "rejected"})
"""How an agent calls a result that is none, because it has not run the tool."""

_TURNS = frozenset({events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE, events.PROMPT_SUBMIT})
_RECENT_SECONDS = 30.0
_PAUSES = (0.0, 0.1, 0.3, 0.6)
_NEW_START = frozenset({"startup", "resume"})


# Calls that were handed over to the agent's own prompt


async def note_run(guest: Guest, call_id: str, shown: str) -> None:
    """A result of the call came: whoever was asked about it, or about a part of it, allowed it."""
    for one in guest.coordinator.handovers.list_calls():
        if one == call_id or one.startswith(f"{call_id}:"):
            await guest.coordinator.handovers.learn(one, "allowed", shown)


async def note_not_run(guest: Guest, call_id: str, why: str) -> None:
    """The call has not run."""
    for one in guest.coordinator.handovers.list_calls():
        if one == call_id or one.startswith(f"{call_id}:"):
            await guest.coordinator.handovers.learn(one, "not_run", why)


async def read_event(guest: Guest, incoming: Incoming) -> None:
    """Learn from an event what became of calls that the agent asked its person about.

    An agent goes on when each of its calls has a result. So what has none by the time that it
    stops, or takes the next prompt, did not run; of a sub-agent, its own stop shows that.
    """
    handovers = guest.coordinator.handovers
    if incoming.event in _TURNS and incoming.transcript and guest.denied.list_given():
        await _compare_with_transcript(guest, incoming)
    stops = incoming.event == events.AGENT_COMPLETE and bool(incoming.agent_id)
    if stops or incoming.event == events.ORCHESTRATOR_COMPLETE:
        await handovers.conclude("stop", incoming.agent_id)
    elif incoming.event == events.PROMPT_SUBMIT and not incoming.agent_id:
        await handovers.conclude("next prompt", "")
    elif incoming.event == events.SESSION_START and incoming.data.get("source") in _NEW_START:
        handovers.lose()
    elif incoming.event == REFUSED:
        await _note_refused(guest, incoming)


def is_refusal(error: Any) -> bool:
    """Whether what an agent reports as an error says that it did not run the tool."""
    return isinstance(error, dict) and error.get("type") in _REFUSALS


async def note_refusal(guest: Guest, incoming: Incoming) -> Verdict:
    """The agent reports that it did not run the tool: there is no result to judge."""
    await _note_refused(guest, incoming)
    await notify(guest, REFUSED, {**incoming.data, "reason": "refused"})
    return Verdict()


async def _note_refused(guest: Guest, incoming: Incoming) -> None:
    data = incoming.data
    call = guest.calls.find(incoming.call_id, data["tool_name"], data["tool_input"])
    if call is not None:
        await note_not_run(guest, call.id, "the agent refused it")


# Calls that were denied here


async def note_denial(
    guest: Guest, incoming: Incoming, passing: Passing, reason: str | None
) -> None:
    """Keep a denied call in mind: the agent may show a result of it all the same."""
    data = incoming.data
    guest.calls.drop(passing.call_id)
    guest.denied.drop(passing.call_id)
    guest.denied.add(
        OpenCall(
            id=passing.call_id,
            given=incoming.call_id,
            tool=data["tool_name"],
            input=dict(data["tool_input"]),
            asked={},
            started=time.time(),
            denied_by=passing.denied_by,
            reason=reason or "",
        )
    )
    await note_not_run(guest, passing.call_id, "denied")


def repeats_denial(guest: Guest, incoming: Incoming, error: Any) -> bool:
    """Whether a failure that the agent reports is nothing but our own denial of the call."""
    data = incoming.data
    if guest.calls.find(incoming.call_id, data["tool_name"], data["tool_input"]) is not None:
        return False
    call = guest.denied.find(incoming.call_id, data["tool_name"], data["tool_input"])
    told = error.get("message") if isinstance(error, dict) else error
    return call is not None and bool(call.reason) and call.reason in str(told)


def record_contradiction(
    guest: Guest, incoming: Incoming, call: OpenCall, shown: str, success: bool
) -> None:
    """Record that the agent shows a result of a call that was denied."""
    body = {
        "tool": call.tool,
        "id": call.id,
        "input": call.input,
        "agent": guest.dialect.name,
        "reason": call.reason,
        "shown": shown,
        "success": success,
    }
    record_denial_contradicted(guest.coordinator, incoming.event, call.denied_by, body)


async def _compare_with_transcript(guest: Guest, incoming: Incoming) -> None:
    """Look for results of denied calls in the conversation, as the agent keeps it.

    A mod within Claude Code may run a denied command and hand the model a result of its own, of
    which no hook is told. It writes the conversation a moment later than it calls us, so what was
    denied just now is looked for several times.
    """
    calls = guest.denied.list_given()
    recent = {one.given for one in calls if time.time() - one.started < _RECENT_SECONDS}
    results: dict[str, bool] = {}
    for pause in _PAUSES:
        await asyncio.sleep(pause)
        results = await asyncio.to_thread(transcripts.read_results, Path(incoming.transcript))
        if recent <= results.keys():
            break
    for call in calls:
        succeeded = results.get(call.given)
        if succeeded is None:
            continue
        guest.denied.drop(call.id)
        if succeeded:
            record_contradiction(guest, incoming, call, "transcript", True)
