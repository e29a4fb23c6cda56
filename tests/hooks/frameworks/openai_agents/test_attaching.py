"""Hooks in front of everything that an agent can reach."""

from __future__ import annotations

import pytest

pytest.importorskip("agents")

from agents import Agent, handoff

from amplifier_hooks.frameworks.openai_agents import runner as amplify
from amplifier_hooks.frameworks.openai_agents.turn import find_board
from tests.adapters.stage import Stage


def test_agents_behind_agents_are_governed(stage: Stage) -> None:
    """As tools, as hand-offs, as hand-offs of tools, and in a circle."""
    deep = Agent("deep")
    inner = Agent("inner", handoffs=[deep])
    other = Agent("other", tools=[inner.as_tool("inner", "Helps.")])
    last = Agent("last")
    agent = Agent("agent", handoffs=[handoff(other), last])
    deep.handoffs.append(agent)
    amplify(agent, stage.hooks)
    boards = {find_board(one) for one in (agent, other, inner, deep, last)}
    assert boards == {find_board(agent)}
    assert None not in boards


def test_agents_that_are_not_reached_are_left_alone(stage: Stage) -> None:
    """One that knows the governed one is not governed by it."""
    agent = Agent("agent")
    above = Agent("above", handoffs=[agent])
    amplify(agent, stage.hooks)
    assert find_board(above) is None
