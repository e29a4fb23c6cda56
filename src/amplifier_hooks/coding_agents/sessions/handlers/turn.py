"""A turn of the agent: its prompt, its end, its sub-agents, and everything else that it tells."""

from __future__ import annotations

from typing import Any

from amplifier_core import events
from amplifier_core.events import is_notification
from amplifier_hooks.coding_agents.dialects.incoming import Incoming
from amplifier_hooks.coding_agents.dialects.verdict import Verdict
from amplifier_hooks.coding_agents.sessions.handlers.guest import Guest, judge, notify
from amplifier_hooks.coding_agents.sessions.passing import Passing

MOST_BLOCKED_STOPS = 8
"""How often hooks may keep an agent from stopping: not every agent has a limit of its own."""


async def take_prompt(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """A new turn: budgets are whole again, and the hooks may refuse or rewrite the prompt."""
    data = dict(incoming.data)
    # What an agent tells its sub-agent begins no turn of the person, nor does what hooks told it
    # to go on with, which Copilot reports as a prompt.
    if not incoming.agent_id and data["prompt"] != guest.going_on:
        guest.coordinator.cancellation.reset()
        guest.coordinator.reset_turn()
        guest.blocked_stops, guest.going_on = 0, ""
    outcome = await judge(guest, events.PROMPT_SUBMIT, data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    wanted = (outcome.data or {}).get("prompt", data["prompt"])
    if not isinstance(wanted, str):
        kind = type(wanted).__name__
        return Verdict(decision="deny", reason=f"A hook left no usable prompt: {kind}")
    denied = await _announce_request(guest, passing)
    return denied or Verdict(prompt=None if wanted == data["prompt"] else wanted)


async def _announce_request(guest: Guest, passing: Passing) -> Verdict | None:
    """The agent will now call its model: hooks of that event speak here, if it does not tell."""
    tells = any(
        row.occasions and row.occasions[0].event == events.PROVIDER_REQUEST and not row.noisy
        for row in guest.dialect.events.values()
    )
    if tells or not guest.coordinator.hooks.hears(events.PROVIDER_REQUEST):
        return None
    coordinator: Any = guest.coordinator
    asked = {
        "provider": guest.dialect.name,
        "model": "",
        "messages": [],
        "tools": [],
        "iteration": 1,
    }
    outcome = await coordinator.open_request(asked)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    messages = (outcome.data or {}).get("messages") or []
    passing.texts += [str(one.get("content") or "") for one in messages]
    return None


async def end_turn(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """Tell the hooks that the agent stops; those that want it to go on deny, and say why."""
    await notify(guest, events.ORCHESTRATOR_COMPLETE, incoming.data)
    if passing.go_on:
        guest.blocked_stops += 1
        guest.going_on = "\n\n".join(passing.go_on)
        return Verdict(decision="deny", reason=guest.going_on)
    if not passing.held and not incoming.agent_id:
        guest.blocked_stops = 0
    complete = {"prompt": "", "response": _read_reply(incoming.data)}
    await notify(guest, events.PROMPT_COMPLETE, complete)
    return Verdict()


async def end_agent(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """The same for a sub-agent."""
    await notify(guest, events.AGENT_COMPLETE, incoming.data)
    if passing.go_on:
        guest.blocked_agents[incoming.agent_id] = 1 + guest.blocked_agents.get(incoming.agent_id, 0)
        return Verdict(decision="deny", reason="\n\n".join(passing.go_on))
    if not passing.held:
        guest.blocked_agents.pop(incoming.agent_id, None)
    return Verdict()


def refuse_to_go_on(guest: Guest, passing: Passing | None, event: str) -> str | None:
    """Why hooks cannot keep the agent working at this event; None if they can."""
    if passing is None or passing.event != event:
        return "the agent is not about to stop"
    if "deny" not in passing.powers:
        return f"{guest.dialect.name} cannot be made to go on"
    sub_agent = event == events.AGENT_COMPLETE
    kept = guest.blocked_agents.get(passing.agent_id, 0) if sub_agent else guest.blocked_stops
    if kept < MOST_BLOCKED_STOPS:
        return None
    # Until the next prompt: Gemini tells of the end once more for each time that it went on.
    passing.held = True
    return f"hooks kept it working {MOST_BLOCKED_STOPS} times in a row, so it may stop now"


def _read_reply(data: dict[str, Any]) -> str:
    final = data.get("final_message")
    return str(final.get("content") or "") if isinstance(final, dict) else ""


async def start_agent(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """A sub-agent starts: what hooks say here is meant for it."""
    coordinator = guest.coordinator
    outcome = await judge(guest, events.AGENT_SPAWN, incoming.data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    await coordinator.inject_answers(events.AGENT_SPAWN, list(outcome.answers))
    return Verdict()


async def start_again(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """The session has been opened by this event, or goes on after it: that was told already."""
    return Verdict()


async def pass_on(guest: Guest, incoming: Incoming, passing: Passing) -> Verdict:
    """Any other event: hooks hear of it, and may refuse it where it can be refused."""
    if is_notification(incoming.event):
        await notify(guest, incoming.event, incoming.data)
        return Verdict()
    outcome = await judge(guest, incoming.event, incoming.data)
    if not outcome.allowed:
        return Verdict(decision="deny", reason=outcome.denial)
    return Verdict()
