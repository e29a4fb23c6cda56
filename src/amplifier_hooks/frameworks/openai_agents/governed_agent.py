"""Governed agents: the same objects, of a class that puts hooks in front of what they use."""

from __future__ import annotations

from typing import Any

from agents import Agent, Model, RunContextWrapper, UserError

from amplifier_hooks.frameworks.openai_agents.attaching import attach_handoffs, attach_tools
from amplifier_hooks.frameworks.openai_agents.models import govern_model
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
