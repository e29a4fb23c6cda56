"""Governed agents: the same objects, with hooks in front of what they use."""

from __future__ import annotations

import pytest

pytest.importorskip("agents")

from agents import Agent, RunContextWrapper, Runner, function_tool

from amplifier_hooks.frameworks.openai_agents import runner as amplify
from amplifier_hooks.frameworks.openai_agents.turn import find_board
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools
from tests.adapters.stage import DONE, Stage, call, use


def test_what_an_agent_has_stays_what_it_was(stage: Stage) -> None:
    """Outside of a run, tools, model and hand-offs are the very objects."""
    tools, model, other = make_tools(Ran()), make_model([]), Agent("other")
    agent = Agent("agent", tools=list(tools), model=model, handoffs=[other])
    amplify(agent, stage.hooks)
    assert agent.model is model
    assert all(one is two for one, two in zip(agent.tools, tools, strict=True))
    assert agent.handoffs[0] is other


async def test_all_tools_are_the_same_objects(stage: Stage) -> None:
    """The SDK compares them by identity."""
    tools = make_tools(Ran())
    agent = amplify(Agent("agent", tools=list(tools)), stage.hooks)
    found = await agent.get_all_tools(RunContextWrapper(None))
    assert all(one is two for one, two in zip(found, tools, strict=True))


async def test_a_clone_is_governed(stage: Stage) -> None:
    """With tools of its own, too."""
    ran = Ran()
    stage.listen("tool:pre")
    agent = amplify(Agent("agent", model="gpt-x"), stage.hooks)
    clone = agent.clone(
        name="clone", tools=make_tools(ran), model=make_model(use(call("note", text="a")))
    )
    assert find_board(clone) is find_board(agent)
    await Runner.run(clone, "Go.", run_config=CONFIG)
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == ["tool:pre"]


async def test_a_tool_that_comes_later_is_governed(stage: Stage) -> None:
    """Tools are looked at each time that the SDK asks for them."""
    ran = Ran()
    stage.listen("tool:pre", "provider:request")

    @function_tool
    def grow() -> str:
        agent.tools.extend(make_tools(ran))
        return "grown"

    model = make_model([[call("grow", 1)], [call("note", 2, text="a")], DONE])
    agent = amplify(Agent("agent", tools=[grow]), stage.hooks)
    agent.model = model
    await Runner.run(agent, "Go.", run_config=CONFIG)
    heard = [data["tool_name"] for name, data in stage.heard.events if name == "tool:pre"]
    assert heard == ["grow", "note"]
    assert stage.heard.names.count("provider:request") == 3


async def test_other_agents_have_no_hooks(stage: Stage) -> None:
    """Also with a tool that a governed agent has."""
    ran, stage.person = Ran(), None
    tools = make_tools(ran)
    stage.listen("session:start", "tool:pre", "provider:request")
    amplify(Agent("agent", tools=tools), stage.hooks)
    free = Agent("free", tools=tools, model=make_model(use(call("note", text="a"))))
    result = await Runner.run(free, "Go.", run_config=CONFIG)
    assert result.final_output == DONE
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == []


def test_equal_agents_stay_equal(stage: Stage) -> None:
    """The SDK's agents are compared by what they have."""
    hooks = stage.hooks
    assert amplify(Agent("agent"), hooks) == amplify(Agent("agent"), hooks)
    assert amplify(Agent("agent"), hooks) != amplify(Agent("other"), hooks)
