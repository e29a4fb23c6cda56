"""Turns: a session of ours is opened behind a run of the SDK, and ended with it."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import time
from collections.abc import AsyncIterator
from typing import Any

from agents import Agent, Model, ModelProvider, ModelRefusalError, RunConfig, RunState
from agents.run_config import _coerce_run_config

from amplifier_core import events
from amplifier_core.errors import SessionDenied
from amplifier_core.events.payloads import EndReason
from amplifier_hooks.coverage import OPENAI_AGENTS
from amplifier_hooks.external.run import Run, inside
from amplifier_hooks.frameworks.openai_agents.handoffs import govern_handoff, judge_spawn
from amplifier_hooks.frameworks.openai_agents.interrupts import (
    drop_parked,
    leave_questions,
    take_state,
)
from amplifier_hooks.frameworks.openai_agents.models import govern_model, govern_provider
from amplifier_hooks.frameworks.openai_agents.outputs import read_value
from amplifier_hooks.frameworks.openai_agents.prompts import (
    PromptDenied,
    change_prompt,
    read_prompt,
)
from amplifier_hooks.frameworks.openai_agents.turn import Board, Turn, current, find_board


def find_outer() -> Turn | None:
    """The turn whose tool is being called here."""
    turn = current.get()
    return turn if turn is not None and inside.get() is turn.run else None


def choose_board(agent: Any) -> Board | None:
    """The board of an agent; one that a governed agent's tool starts gets that agent's."""
    known, outer = find_board(agent), find_outer()
    if known is None and outer is not None and isinstance(agent, Agent):
        outer.board.adopt(agent, outer.board)
        known = outer.board
    return known


@contextlib.asynccontextmanager
async def open_turn(board: Board, agent: Agent[Any], given: Any) -> AsyncIterator[tuple[Turn, Any]]:
    """Open a turn with its session and prompt; gives the input to go on with, too."""
    outer = find_outer()
    if outer is not None and not isinstance(given, RunState):
        await _check_spawn(outer, agent, given)
    run, given = await _begin(board, agent, given)
    turn = Turn(run, board, outer, agent)
    token, started = current.set(turn), time.monotonic()
    reason: EndReason = "error"
    try:
        if isinstance(given, RunState):
            _resume(turn, given)
        yield turn, given
        reason = "complete"
    except (asyncio.CancelledError, KeyboardInterrupt, GeneratorExit):
        reason = "user_exit"
        raise
    finally:
        current.reset(token)
        await drop_parked(turn)
        await run.end(reason)
        if outer is not None:
            await _tell_complete(outer, agent, run, time.monotonic() - started, reason)


async def _begin(board: Board, agent: Agent[Any], given: Any) -> tuple[Run, Any]:
    governor = board.governor
    if isinstance(given, RunState):  # its prompt was judged when the run began
        try:
            return await governor.open(OPENAI_AGENTS, agent.name), given
        except SessionDenied as error:
            raise PromptDenied(str(error)) from error
    run, verdict = await governor.begin(OPENAI_AGENTS, read_prompt(given), agent.name)
    if run is None:
        raise PromptDenied(verdict.text)
    return run, change_prompt(given, verdict.text) if verdict.changed else given


def _resume(turn: Turn, state: RunState[Any]) -> None:
    take_state(turn, state)
    reply = getattr(state, "_last_processed_response", None)
    for one in getattr(reply, "handoffs", ()):
        govern_handoff(one.handoff)


async def _check_spawn(outer: Turn, agent: Agent[Any], given: Any) -> None:
    why = await judge_spawn(outer.run, agent.name, read_prompt(given))
    if why is not None:
        raise PromptDenied(why)


async def _tell_complete(
    outer: Turn, agent: Agent[Any], run: Run, spent: float, reason: EndReason
) -> None:
    data = {
        "parent_session_id": outer.run.coordinator.session_id,
        "agent_name": agent.name,
        "task": "",
        "result": {"session_id": run.coordinator.session_id},
        "duration_ms": int(spent * 1000),
        "status": "success" if reason == "complete" else "error",
    }
    await outer.run.tell(events.AGENT_COMPLETE, data)


def govern_config(options: dict[str, Any]) -> ModelProvider | None:
    """Have a run's models governed; returns the provider if nobody else will close it."""
    given = options.get("run_config")
    is_ours = given is None or (isinstance(given, dict) and "model_provider" not in given)
    config = RunConfig() if given is None else copy.copy(_coerce_run_config(given))
    if isinstance(config.model, Model):
        config.model = govern_model(config.model)
    config.model_provider = govern_provider(config.model_provider)
    options["run_config"] = config
    return config.model_provider if is_ours else None


async def finish(turn: Turn, result: Any, *, streamed: bool = False) -> None:
    """Judge what goes out, unless it was judged as the reply that it is."""
    if result.interruptions:
        leave_questions(turn, result)
        return
    final = result.final_output
    if final is None or final == turn.answered or (turn.answered and not isinstance(final, str)):
        return
    text = final if isinstance(final, str) else json.dumps(read_value(final))
    verdict = await turn.run.answer(text, streamed=streamed)
    if verdict.allowed and not verdict.changed:
        return
    if not isinstance(final, str):
        raise ModelRefusalError(verdict.text)
    result.final_output = verdict.text
