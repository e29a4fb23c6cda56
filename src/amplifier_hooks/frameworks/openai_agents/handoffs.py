"""Hand-offs of the SDK on the path of tool calls: the model asks for one as for a tool."""

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Any

from agents import Agent, Handoff, UserError

from amplifier_core import events
from amplifier_core.models import ToolResult
from amplifier_hooks.external.calling import Wanted
from amplifier_hooks.external.model_side import refuse_change
from amplifier_hooks.external.run import Run
from amplifier_hooks.frameworks.openai_agents.messages import read_arguments, write_arguments
from amplifier_hooks.frameworks.openai_agents.turn import Turn, current

_MARK = "_amplifier_governs"
_said: ContextVar[str | None] = ContextVar("amplifier_handoff_said", default=None)
"""What the model reads of the hand-off that was just made, if it is not the SDK's own words."""


class SpawnDenied(Exception):
    """A hook does not let the other agent start."""


def govern_handoff(handoff: Handoff[Any, Any]) -> None:
    """Put hooks in front of a hand-off, in place and once."""
    if hasattr(handoff, _MARK) or not hasattr(handoff, "on_invoke_handoff"):
        return
    inner, get_message = handoff.on_invoke_handoff, handoff.get_transfer_message

    async def invoke(context: Any, raw: str) -> Any:
        turn = current.get()
        if turn is None:
            return await inner(context, raw)
        return await _hand_off(turn, handoff, lambda given: inner(context, given), raw or "")

    def get_transfer_message(agent: Any) -> str:
        said = _said.get()
        _said.set(None)
        return get_message(agent) if said is None else said

    made: Any = handoff
    made.on_invoke_handoff = invoke
    made.get_transfer_message = get_transfer_message
    setattr(handoff, _MARK, True)


async def _hand_off(turn: Turn, handoff: Handoff[Any, Any], invoke: Any, raw: str) -> Any:
    """The agent that goes on: the other one, or where hooks deny that, the same as before."""

    async def start(given: dict[str, Any]) -> Any:
        written = write_arguments(given, raw)
        if (why := await judge_spawn(turn.run, handoff.agent_name, written)) is not None:
            raise SpawnDenied(why)
        agent = await invoke(written)
        turn.board.adopt(agent, turn.board)
        return agent

    wanted = Wanted(
        handoff.tool_name, read_arguments(raw), "", start, _read_agent, steering=(SpawnDenied,)
    )
    try:
        called = await turn.run.call(wanted)
    except SpawnDenied as error:
        return _stay(turn, str(error))
    if called.untouched:
        return called.value
    if called.result.denied or called.value is None:
        return _stay(turn, called.text)
    _said.set(called.text)
    return called.value


def _read_agent(agent: Agent[Any]) -> ToolResult:
    return ToolResult(output=json.dumps({"assistant": agent.name}))


def _stay(turn: Turn, reason: str) -> Agent[Any]:
    if turn.agent is None:
        raise UserError(reason)
    _said.set(reason)
    return turn.agent


async def judge_spawn(run: Run, agent: str, task: str) -> str | None:
    """Why hooks do not let a sub-agent start, if they do not."""
    data: dict[str, Any] = {
        "parent_session_id": run.coordinator.session_id,
        "agent_name": agent,
        "task": task,
        "config_override": {},
    }
    outcome = await run.ask(events.AGENT_SPAWN, data)
    if not outcome.allowed:
        return outcome.denial
    left = outcome.data or data
    if any(left.get(key) != value for key, value in data.items()):
        refusing = refuse_change(run.coordinator, run.coverage, events.AGENT_SPAWN)
        return await run.home.run(refusing)
    return None
