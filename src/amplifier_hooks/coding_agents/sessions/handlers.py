"""Handlers of an agent's events: its prompt, its calls, its sub-agents, its questions."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from amplifier_core import events
from amplifier_core.coordinator import SessionCoordinator
from amplifier_core.events import is_notification
from amplifier_core.models import HookResult
from amplifier_hooks.coding_agents.dialects import Dialect
from amplifier_hooks.coding_agents.sessions import transcripts
from amplifier_hooks.coding_agents.sessions.bypasses import EXPANSION
from amplifier_hooks.external.conversation import EventContext
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.session import ExternalSession
from amplifier_hooks.external.tool_calls import APPROVED
from amplifier_hooks.external.verdicts import Verdict

MOST_BLOCKED_STOPS = 8
"""How often hooks may keep an agent from stopping: not every agent has a limit of its own."""

PERMISSION = "guest:permission_request"
_ASKER = "guest-permission"
_SHOWN_INPUT = 2000
_SECONDS = 560.0  # below the time that an agent waits for its hooks

_TURNS = frozenset({events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE, events.PROMPT_SUBMIT})
_RECENT_SECONDS = 30.0
_PAUSES = (0.0, 0.1, 0.3, 0.6)


class Session(Protocol):
    """What a handler needs of the session of an agent."""

    external: ExternalSession
    blocked_stops: int
    going_on: str
    blocked_agents: dict[str, int]

    @property
    def dialect(self) -> Dialect: ...
    @property
    def coordinator(self) -> SessionCoordinator: ...


# A turn


async def submit_prompt(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """A new turn: budgets are whole again, and the hooks may refuse or rewrite the prompt."""
    # What an agent tells its sub-agent begins no turn of the person, nor does what hooks told it
    # to go on with, which Copilot reports as a prompt.
    begins_turn = not incoming.agent_id and incoming.data["prompt"] != session.going_on
    if begins_turn:
        session.coordinator.cancellation.reset()
        session.blocked_stops = 0
        session.going_on = ""
    verdict = await session.external.submit(incoming.data, begins_turn=begins_turn)
    if not verdict.allowed:
        return Verdict(decision="deny", reason=verdict.text)
    denied = await _announce_request(session, event)
    return denied or Verdict(prompt=verdict.text if verdict.changed else None)


async def _announce_request(session: Session, event: EventContext) -> Verdict | None:
    """The agent will now call its model: hooks of that event speak here, if it does not tell."""
    tells = any(
        row.occasions and row.occasions[0].event == events.PROVIDER_REQUEST and not row.noisy
        for row in session.dialect.events.values()
    )
    if tells or not session.coordinator.hooks.has_listeners(events.PROVIDER_REQUEST):
        return None
    coordinator: Any = session.coordinator
    asked = {
        "provider": session.dialect.name,
        "model": "",
        "messages": [],
        "tools": [],
        "iteration": 1,
    }
    outcome = await coordinator.open_request(asked)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    messages = (outcome.data or {}).get("messages") or []
    event.texts += [str(one.get("content") or "") for one in messages]
    return None


async def end_turn(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """Tell the hooks that the agent stops; those that want it to go on deny, and say why."""
    await session.external.judge(events.ORCHESTRATOR_COMPLETE, incoming.data)
    if event.go_on:
        session.blocked_stops += 1
        session.going_on = "\n\n".join(event.go_on)
        return Verdict(decision="deny", reason=session.going_on)
    if not event.held and not incoming.agent_id:
        session.blocked_stops = 0
    complete = {"prompt": "", "response": _read_reply(incoming.data)}
    await session.external.judge(events.PROMPT_COMPLETE, complete)
    return Verdict()


async def end_agent(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """The same for a sub-agent."""
    await session.external.judge(events.AGENT_COMPLETE, incoming.data)
    agent = incoming.agent_id
    if event.go_on:
        session.blocked_agents[agent] = 1 + session.blocked_agents.get(agent, 0)
        return Verdict(decision="deny", reason="\n\n".join(event.go_on))
    if not event.held:
        session.blocked_agents.pop(agent, None)
    return Verdict()


def refuse_to_go_on(session: Session, event: EventContext | None, name: str) -> str | None:
    """Why hooks cannot keep the agent working at this event; None if they can."""
    if event is None or event.event != name:
        return "the agent is not about to stop"
    if "deny" not in event.powers:
        return f"{session.dialect.name} cannot be made to go on"
    sub_agent = name == events.AGENT_COMPLETE
    blocked = session.blocked_agents.get(event.agent_id, 0) if sub_agent else session.blocked_stops
    if blocked < MOST_BLOCKED_STOPS:
        return None
    # Until the next prompt: Gemini tells of the end once more for each time that it went on.
    event.held = True
    return f"hooks kept it working {MOST_BLOCKED_STOPS} times in a row, so it may stop now"


def _read_reply(data: dict[str, Any]) -> str:
    final = data.get("final_message")
    return str(final.get("content") or "") if isinstance(final, dict) else ""


async def start_agent(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """A sub-agent starts: what hooks say here is meant for it."""
    outcome = await session.external.judge(events.AGENT_SPAWN, incoming.data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    await session.coordinator.inject_answers(events.AGENT_SPAWN, list(outcome.answers))
    return Verdict()


async def start_again(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """The session has been opened by this event, or goes on after it: that was told already."""
    return Verdict()


async def pass_on(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """Any other event: hooks hear of it, and may refuse it where it can be refused."""
    outcome = await session.external.judge(incoming.event, incoming.data)
    if outcome.allowed or is_notification(incoming.event):
        return Verdict()
    return Verdict(decision="deny", reason=outcome.denial)


# Tool calls


async def before_tool(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """The agent wants to call a tool."""
    verdict = await session.external.before_tool(incoming, event)
    if verdict.decision == "deny" and event.left_open:
        return replace(verdict, reason=f"{event.left_open} {verdict.reason}")
    return verdict


async def after_tool(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """A tool has returned."""
    return await session.external.after_tool(incoming, event)


async def after_failure(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """A tool has failed."""
    return await session.external.after_failure(incoming, event)


async def before_expansion(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """A command of the person is about to be expanded: judge what runs then, and the event."""
    event.call_id = f"call_{uuid.uuid4().hex[:12]}"
    refused = await session.external.tools.judge_parts(incoming, event)
    if refused is not None:
        return refused
    if event.question:
        return Verdict(decision="ask", reason=event.question)
    return await pass_on(session, incoming, event)


async def ask_permission(session: Session, incoming: Incoming, event: EventContext) -> Verdict:
    """What a person has approved already is allowed; else the hooks decide, or nobody here."""
    data = incoming.data
    outcome = await session.external.judge(PERMISSION, data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    running = session.external.tools.running
    known = running.find(incoming.call_id, data["tool_name"], data["tool_input"])
    if outcome.digest or (known is not None and known.approved):
        return Verdict(decision="allow", reason=APPROVED)
    return Verdict()


def ask_people_elsewhere(coordinator: SessionCoordinator, agent: str) -> None:
    """Have what the agent asks its person put to the people of the approval service as well."""

    async def ask(event: str, data: dict[str, Any]) -> HookResult:
        shown = json.dumps(data.get("tool_input"), ensure_ascii=False, default=str)
        return HookResult(
            action="ask_user",
            approval_prompt=f"{agent} asks: {data.get('tool_name')}\n{shown[:_SHOWN_INPUT]}",
            approval_timeout=_SECONDS,
        )

    coordinator.register_cleanup(coordinator.hooks.register(PERMISSION, ask, 90, _ASKER))


# What each of our events is handled by; any other one is passed on

Handler = Callable[[Session, Incoming, EventContext], Awaitable[Verdict]]

HANDLERS: dict[str, Handler] = {
    events.TOOL_PRE: before_tool,
    events.TOOL_POST: after_tool,
    events.TOOL_ERROR: after_failure,
    events.PROMPT_SUBMIT: submit_prompt,
    events.ORCHESTRATOR_COMPLETE: end_turn,
    events.AGENT_COMPLETE: end_agent,
    events.AGENT_SPAWN: start_agent,
    events.SESSION_START: start_again,
    PERMISSION: ask_permission,
    EXPANSION: before_expansion,
}


# Evidence


async def learn_from(session: Session, incoming: Incoming) -> None:
    """Learn from an event what became of calls that were handed over, or denied."""
    denied = session.external.tools.denied
    if incoming.event in _TURNS and incoming.transcript and denied.list_given():
        await _compare_with_transcript(session, incoming)
    await session.external.tools.learn_from(incoming)


async def _compare_with_transcript(session: Session, incoming: Incoming) -> None:
    """Look for results of denied calls in the conversation, as the agent keeps it.

    A mod within Claude Code may run a denied command and hand the model a result of its own, of
    which no hook is told. It writes the conversation a moment later than it calls us, so what was
    denied just now is looked for several times.
    """
    tools = session.external.tools
    calls = tools.denied.list_given()
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
        tools.denied.drop(call.id)
        if succeeded:
            tools.record_contradiction(incoming.event, call, "transcript", True)
