"""Which invocations are under way, and why they are over."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("strands")

from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.frameworks.strands.tools import Turns, find_reason
from tests.adapters.stage import Stage


class SomeAgent:
    """Stands for an agent."""


class Result:
    """Stands for a result."""

    def __init__(self, stop_reason: str) -> None:
        self.stop_reason = stop_reason


async def test_a_run_is_found_by_agent_and_state(stage: Stage) -> None:
    """Agents of a graph share one state, and one agent may have several invocations."""
    turns, hooks = Turns(), stage.hooks
    agent, other = SomeAgent(), SomeAgent()
    state: dict[str, Any] = {}
    mine, theirs = await hooks.open(STRANDS), await hooks.open(STRANDS)
    turns.add(agent, state, mine)
    turns.add(other, state, theirs)
    assert turns.find(agent, state) is mine
    assert turns.find(other, state) is theirs


async def test_a_replaced_state_leads_to_the_only_run(stage: Stage) -> None:
    """With two under way, nobody can say which."""
    turns, hooks, agent = Turns(), stage.hooks, SomeAgent()
    first = await hooks.open(STRANDS)
    turns.add(agent, {}, first)
    assert turns.find(agent, {"replaced": True}) is first
    turns.add(agent, {}, await hooks.open(STRANDS))
    assert turns.find(agent, {"replaced": True}) is None


async def test_a_run_that_is_over_is_not_found(stage: Stage) -> None:
    """And is taken once."""
    turns, agent, state = Turns(), SomeAgent(), {"a": 1}
    run = await stage.hooks.open(STRANDS)
    turns.add(agent, state, run)
    assert turns.take(agent, state) is run
    assert turns.take(agent, state) is None
    assert turns.find(agent, state) is None
    turns.add(agent, state, run)
    await run.end()
    assert turns.find(agent, state) is None


async def test_an_invocation_without_state_ends_the_only_one(stage: Stage) -> None:
    """The framework begins and ends some with another state each; a refused one ends itself."""
    turns, agent, refused = Turns(), SomeAgent(), dict[str, Any]()
    run = await stage.hooks.open(STRANDS)
    turns.add(agent, {}, run)
    turns.add(agent, refused, None)
    assert turns.find(agent, refused) is run
    assert turns.take(agent, refused) is None
    assert turns.take(agent, {"other": 1}) is None
    assert turns.take(agent, {}) is run


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "user_exit"),
        (GeneratorExit(), "user_exit"),
        (TimeoutError(), "timeout"),
        (ValueError(), "error"),
    ],
)
def test_an_exception_says_why_it_is_over(error: BaseException, reason: str) -> None:
    """While it passes."""
    found: list[str] = []

    def fail() -> None:
        try:
            raise error
        finally:
            found.append(find_reason(None))

    with pytest.raises(type(error)):
        fail()
    assert found == [reason]


def test_a_result_says_why_it_is_over() -> None:
    """An agent that was stopped has one, too."""
    assert find_reason(Result("end_turn")) == "complete"  # type: ignore[arg-type]
    assert find_reason(Result("cancelled")) == "user_exit"  # type: ignore[arg-type]
    assert find_reason(None) == "complete"
