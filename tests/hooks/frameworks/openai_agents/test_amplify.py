"""The one line that puts hooks in front of an agent of the OpenAI Agents SDK."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import Agent, Runner, UserError
from agents.run import get_default_agent_runner

from amplifier_core import HookRegistry, HookResult
from amplifier_hooks.frameworks.openai_agents import amplify, coverage
from amplifier_hooks.frameworks.openai_agents.runner import GovernedRunner
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools
from tests.adapters.stage import Stage, call, use


def test_the_agent_stays_the_same_object(stage: Stage) -> None:
    """Programs that hold it have the governed one."""
    agent = Agent("agent")
    assert amplify(agent, stage.hooks) is agent
    assert isinstance(agent, Agent)
    assert type(agent).__name__ == "Agent"


def test_the_runner_is_put_in_place_once(stage: Stage) -> None:
    """However many agents are governed."""
    amplify(Agent("one"), stage.hooks)
    first = get_default_agent_runner()
    amplify(Agent("two"), stage.hooks)
    assert isinstance(first, GovernedRunner)
    assert get_default_agent_runner() is first


def test_the_same_hooks_twice_are_the_same_hooks(stage: Stage) -> None:
    """Governing an agent again changes nothing."""
    hooks, agent = stage.hooks, Agent("agent")
    kind = type(amplify(agent, hooks))
    assert type(amplify(agent, hooks)) is kind


def test_other_hooks_are_refused(stage: Stage) -> None:
    """Silently, one of the two would not be called."""
    agent = amplify(Agent("agent"), stage.hooks)
    with pytest.raises(UserError, match="'agent' is governed by other hooks already"):
        amplify(agent, HookRegistry())
    with pytest.raises(UserError, match="with the same asks="):
        amplify(Agent("other", handoffs=[agent]), stage.hooks)


@pytest.mark.parametrize("wrong", ["agent", None, Agent])
def test_only_agents_are_governed(wrong: Any, stage: Stage) -> None:
    """Whatever else is given is named."""
    with pytest.raises(TypeError, match=type(wrong).__name__):
        amplify(wrong, stage.hooks)


def test_there_are_two_ways_to_ask(stage: Stage) -> None:
    """Inline and by interruptions."""
    with pytest.raises(ValueError, match="'inline' or 'interrupt', got 'later'"):
        amplify(Agent("agent"), stage.hooks, asks="later")  # type: ignore[arg-type]
    assert coverage().asking == ("inline", "interrupt")


async def test_a_registry_is_enough() -> None:
    """Nothing else has to be made first."""
    registry, ran = HookRegistry(), Ran()

    @registry.register("tool:pre")
    async def refuse(event: str, data: dict[str, Any]) -> HookResult:
        return HookResult(action="deny", reason="not here")

    model = make_model(use(call("wipe", path="/")))
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), registry)
    await Runner.run(agent, "Go.", run_config=CONFIG)
    assert ran.calls == []
