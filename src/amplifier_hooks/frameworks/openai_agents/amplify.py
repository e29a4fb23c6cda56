"""The one line: `amplify(agent, hooks)`."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from agents import Agent, Model, RunContextWrapper, UserError

from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.openai_agents.attaching import attach_handoffs, attach_tools
from amplifier_hooks.frameworks.openai_agents.models import govern_model
from amplifier_hooks.frameworks.openai_agents.runner import install_runner
from amplifier_hooks.frameworks.openai_agents.turn import (
    BOARD,
    Board,
    check_turn,
    current,
    find_board,
)


def adopt(agent: Agent[Any], board: Board) -> None:
    """Have an agent governed, in place, with all that it can reach."""
    known = find_board(agent)
    if known is not None:
        _check_same(agent, known, board)
        return
    kind = type(agent)
    if kind not in board.classes:
        board.classes[kind] = _derive(kind, board)
    agent.__class__ = board.classes[kind]
    attach_tools(agent.tools, board)
    attach_handoffs(agent.handoffs, board)


def _check_same(agent: Agent[Any], known: Board, board: Board) -> None:
    if known.governor is not board.governor or known.asks != board.asks:
        raise UserError(
            f"Agent {agent.name!r} is governed by other hooks already. Agents that call or hand "
            "off to one another are governed together: make hooks = govern(...) once, and give "
            "the same to amplify() for each of them, with the same asks="
        )


def _as_agent(governed: Any) -> Agent[Any]:
    agent: Agent[Any] = governed
    return agent


def _derive(kind: Any, board: Board) -> type[Agent[Any]]:
    """A class for one board: clones of the agent are made by it, and are governed as well."""

    class Governed(kind):  # type: ignore[misc]
        async def get_all_tools(self, run_context: RunContextWrapper[Any]) -> list[Any]:
            check_turn(self)
            tools: list[Any] = await super().get_all_tools(run_context)
            attach_tools(tools, board)
            attach_handoffs(self.handoffs, board)
            turn = current.get()
            if turn is not None:
                # A sandbox runs a copy of the agent, and keeps the agent itself by this name.
                public: Any = getattr(self, "_agents_public_agent", None)
                turn.agent = public or _as_agent(self)
            return tools

        @property
        def model(self) -> str | Model | None:
            found: str | Model | None = self.__dict__.get("model")
            return govern_model(found) if isinstance(found, Model) else found

        @model.setter
        def model(self, value: Any) -> None:
            self.__dict__["model"] = value

    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Governed, name, getattr(kind, name))
    setattr(Governed, BOARD, board)
    return Governed


AnyAgent = TypeVar("AnyAgent", bound=Agent[Any])


def amplify(agent: AnyAgent, hooks: Governable, *, asks: Asking = "inline") -> AnyAgent:
    """Put hooks in front of an agent, in place: its tools, its model, and the agents it uses.

    With `asks="interrupt"`, questions are interruptions of the run: see `questions`, `settle`.
    """
    if not isinstance(agent, Agent):
        kind = type(agent).__name__
        raise TypeError(f"amplify() takes an agents.Agent, got {kind}")
    if asks not in ("inline", "interrupt"):
        raise ValueError(f"asks is 'inline' or 'interrupt', got {asks!r}")
    adopt(agent, _find_board(govern(hooks), asks))
    install_runner()
    return agent


_boards: weakref.WeakKeyDictionary[Governor, dict[Asking, Board]] = weakref.WeakKeyDictionary()


def _find_board(governor: Governor, asks: Asking) -> Board:
    """The board of these hooks: agents that they govern are of one class, and may be equal."""
    known = _boards.setdefault(governor, {})
    if asks not in known:
        known[asks] = Board(governor, asks, adopt)
    return known[asks]
