"""A run of the SDK's runner, and what belongs to it while it lasts."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from agents import Agent, UserError
from agents.run_internal import agent_tool_configuration

from amplifier_hooks.coverage import OPENAI_AGENTS, Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.external.run import Run

BOARD = "_amplifier_board"
"""The attribute of a governed agent's class that has its board."""


@dataclass(frozen=True, slots=True)
class Board:
    """Which hooks govern an agent, and how people are asked there."""

    governor: Governor
    asks: Asking
    adopt: Callable[[Agent[Any], Board], None]
    """Has another agent governed by the same."""
    classes: dict[type, type[Agent[Any]]] = field(default_factory=dict, compare=False)
    """Of governed agents: equal agents have one class."""


def find_board(agent: object) -> Board | None:
    """The board of an agent, if it is governed."""
    found = getattr(type(agent), BOARD, None)
    return found if isinstance(found, Board) else None


@dataclass(slots=True)
class Turn:
    """One call of the runner with a governed agent."""

    run: Run
    board: Board
    outer: Turn | None = None
    """The one whose tool has called the runner."""
    agent: Agent[Any] | None = None
    """Which agent has the word; hand-offs change it."""
    answered: str | None = None
    """The text of the last reply, if hooks have judged it as the answer."""
    models: dict[int, Any] = field(default_factory=dict)
    """Each model of the run, with the governed one in its place."""
    parked: dict[str, Any] = field(default_factory=dict)
    """Calls that hooks have judged before the SDK runs them, by id."""
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What people are asked by the SDK's interruptions, by call id."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """What they have said to it."""
    shown: dict[str, str] = field(default_factory=dict)
    """The arguments of each call that the SDK itself has shown to a person, by call id."""

    is_lone: bool = False
    """Whether it is there for one call of a tool, which nothing can interrupt."""

    @property
    def asks(self) -> Asking:
        """Where questions wait."""
        return "inline" if self.is_lone else self.board.asks

    def up(self) -> Iterator[Turn]:
        """This turn and those around it."""
        turn: Turn | None = self
        while turn is not None:
            yield turn
            turn = turn.outer


current: ContextVar[Turn | None] = ContextVar("amplifier_openai_turn", default=None)
"""The turn that the running code belongs to."""


@contextlib.asynccontextmanager
async def find_turn(agent: object) -> AsyncIterator[Turn | None]:
    """The turn that a tool is called in; None for an agent that nobody governs.

    Of a governed agent whose tool is called by itself, in no run, it is one for this call.
    """
    turn = current.get()
    board = find_board(agent)
    if turn is not None or board is None:
        yield turn
        return
    run = await board.governor.open(OPENAI_AGENTS, str(getattr(agent, "name", "")))
    turn = Turn(run, board, is_lone=True)
    token = current.set(turn)
    try:
        yield turn
    finally:
        current.reset(token)
        await run.end()


def check_turn(agent: Any) -> None:
    """UserError if the SDK runs a governed agent where its hooks cannot follow."""
    running = getattr(agent_tool_configuration, "_current_run", None)
    if current.get() is not None or running is None or running.get() is None:
        return
    raise UserError(
        f"Agent {agent.name!r} is governed, but this run of it is not: it began with an agent that "
        "is not governed, which handed off to it, or with another runner. Call amplify() for the "
        "agent that runs begin with, after set_default_agent_runner() if you use that"
    )
