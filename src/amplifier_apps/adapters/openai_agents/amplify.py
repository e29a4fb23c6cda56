"""The one line: `amplify(agent, hooks)`."""

from __future__ import annotations

from typing import Any, TypeVar

from agents import Agent

from amplifier_apps.adapters.coverage.coverage import Asking
from amplifier_apps.adapters.governing.governor import Governable, govern
from amplifier_apps.adapters.openai_agents.governed_agent import adopt
from amplifier_apps.adapters.openai_agents.runner import install_runner
from amplifier_apps.adapters.openai_agents.turn import Board

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
    adopt(agent, Board(govern(hooks), asks, adopt))
    install_runner()
    return agent
