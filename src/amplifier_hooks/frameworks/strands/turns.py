"""The invocations of agents that are under way, each with the run of ours behind it."""

from __future__ import annotations

import asyncio
import sys
import weakref
from dataclasses import dataclass
from typing import Any

from strands.agent.agent_result import AgentResult

from amplifier_core.payloads import EndReason
from amplifier_hooks.external.run import Run

State = dict[str, Any]


@dataclass(slots=True)
class Turn:
    """One invocation of an agent, known by the state that the framework hands around in it.

    One that was refused has no run, but it ends as others do.
    """

    state: State
    run: Run | None


class Turns:
    """Finds the run of what an agent does."""

    def __init__(self) -> None:
        self._open: weakref.WeakKeyDictionary[Any, list[Turn]] = weakref.WeakKeyDictionary()

    def add(self, agent: Any, state: State, run: Run | None) -> None:
        """An invocation begins."""
        self._open.setdefault(agent, []).append(Turn(state, run))

    def find(self, agent: Any, state: State) -> Run | None:
        """The run of the invocation with this state; if a middleware replaced it, the only one."""
        turns = self._open.get(agent, ())
        runs = [(turn.state, turn.run) for turn in turns if turn.run and not turn.run.has_ended]
        same = [run for known, run in runs if known is state]
        if same:
            return same[-1]
        return runs[0][1] if len(runs) == 1 else None

    def take(self, agent: Any, state: State) -> Run | None:
        """The run of an invocation that is over; one without any state is the only one."""
        turns = self._open.get(agent, [])
        same = [turn for turn in turns if turn.state is state]
        if not same and not state and len(turns) == 1:
            same = turns[:]
        if not same:
            return None
        turns.remove(same[-1])
        return same[-1].run


def find_reason(result: AgentResult | None) -> EndReason:
    """Why an invocation is over, asked while it ends."""
    error = sys.exc_info()[1]
    if isinstance(error, asyncio.CancelledError | GeneratorExit | KeyboardInterrupt):
        return "user_exit"
    if isinstance(error, TimeoutError):
        return "timeout"
    if error is not None:
        return "error"
    return "user_exit" if result is not None and result.stop_reason == "cancelled" else "complete"
