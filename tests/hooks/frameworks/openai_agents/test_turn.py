"""A turn and the board of the agents in it."""

from __future__ import annotations

from typing import Any, cast

import pytest

pytest.importorskip("agents")

from agents import Agent, UserError
from agents.run_internal.agent_tool_configuration import agent_tool_configuration_run

from amplifier_hooks.frameworks.openai_agents import runner as amplify
from amplifier_hooks.frameworks.openai_agents.turn import Turn, check_turn, current, find_board
from tests.adapters.stage import Stage


def make_turn(outer: Turn | None = None) -> Turn:
    """A turn without a session."""
    nothing = cast(Any, None)
    return Turn(nothing, nothing, outer)


def test_a_turn_knows_those_around_it() -> None:
    """From the inside to the outside."""
    outer = make_turn()
    middle = make_turn(outer)
    inner = make_turn(middle)
    assert list(inner.up()) == [inner, middle, outer]


def test_only_governed_agents_have_a_board(stage: Stage) -> None:
    """Whatever else is asked about has none."""
    assert find_board(amplify(Agent("agent"), stage.hooks)) is not None
    for other in (Agent("free"), None, "agent"):
        assert find_board(other) is None


def test_a_run_without_a_turn_is_refused() -> None:
    """It is the SDK that runs the agent, and nobody has opened a session."""
    agent = Agent("agent")
    check_turn(agent)
    with agent_tool_configuration_run(agent):
        with pytest.raises(UserError, match="'agent' is governed, but this run of it is not"):
            check_turn(agent)
        token = current.set(make_turn())
        check_turn(agent)
        current.reset(token)
