"""The one line: `amplify(agent, hooks)`."""

from __future__ import annotations

import weakref
from typing import Any, TypeVar

from agents import Agent

from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.governor import Governor
from amplifier_hooks.frameworks.governing import Governable, govern
from amplifier_hooks.frameworks.openai_agents.governed_agent import adopt
from amplifier_hooks.frameworks.openai_agents.runner import install_runner
from amplifier_hooks.frameworks.openai_agents.turn import Board

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
