"""Delegate gives a task to a sub-agent through the capability session.spawn."""

from __future__ import annotations

import pytest

from amplifier_core.errors import SessionError
from amplifier_hooks.agent.tools import delegate

AGENTS = {"reviewer": {"description": "Reads code\nand judges it"}, "writer": {}}


@pytest.fixture
async def call(coordinator):
    coordinator.config["agents"] = AGENTS
    await delegate.mount(coordinator, {"max_output": 100})

    async def execute(**given):
        return await coordinator.tools["Delegate"].execute(given)

    return execute


def spawning(coordinator, answer):
    """Registers a session.spawn that records what it is asked for."""
    asked = []

    async def spawn(agent_name, task, context=None):
        asked.append((agent_name, task, context))
        if isinstance(answer, Exception):
            raise answer
        return answer

    coordinator.register_capability("session.spawn", spawn)
    return asked


async def test_the_task_goes_to_the_agent_and_its_answer_comes_back(call, coordinator):
    """With what it must know of the conversation."""
    answer = {"output": "Looks good", "session_id": "s-1", "status": "success"}
    asked = spawning(coordinator, answer)
    result = await call(agent_name="reviewer", task="Review a.py", context="It is new")
    assert result.success
    assert result.output == "Looks good"
    assert asked == [("reviewer", "Review a.py", "It is new")]


async def test_an_unknown_agent_is_named_with_those_there_are(call, coordinator):
    """Nothing is spawned."""
    asked = spawning(coordinator, {})
    result = await call(agent_name="reviwer", task="x")
    assert result.error == "Unknown agent 'reviwer'; have reviewer, writer"
    assert asked == []


async def test_a_session_without_sub_agents_says_so(call):
    """The agent is told to do the task itself."""
    result = await call(agent_name="writer", task="x")
    assert "cannot start sub-agents" in result.error


async def test_a_refused_spawn_is_a_sentence(call, coordinator):
    """Depth and count are limited by the session; the agent reads why."""
    spawning(coordinator, SessionError("3 levels of sub-agents are the limit"))
    result = await call(agent_name="writer", task="x")
    assert "3 levels of sub-agents are the limit" in result.error


@pytest.mark.parametrize("status", ["error", "interrupted"])
async def test_a_child_that_did_not_finish_is_a_failure(call, coordinator, status):
    """What it had to say is kept."""
    spawning(coordinator, {"output": "halfway", "session_id": "s", "status": status})
    result = await call(agent_name="writer", task="x")
    assert not result.success
    assert status in result.error
    assert "halfway" in result.get_serialized_output()


@pytest.mark.parametrize(
    ("output", "word"), [("x" * 1000, "900 more characters"), (None, "nothing")]
)
async def test_the_answer_is_bounded_and_never_empty(call, coordinator, output, word):
    """A long answer is cut, a missing one is said."""
    spawning(coordinator, {"output": output, "session_id": "s", "status": "success"})
    result = await call(agent_name="writer", task="x")
    assert word in result.output
    assert len(result.output) < 200


async def test_the_description_lists_the_agents(call, coordinator):
    """A model can choose from the description alone."""
    tool = coordinator.tools["Delegate"]
    assert "reviewer (Reads code and judges it); writer" in tool.description
    coordinator.config["agents"] = {}
    assert "none are configured" in tool.description
    assert set(tool.input_schema["required"]) == {"agent_name", "task"}
