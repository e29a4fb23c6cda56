"""deepagents: its built-in sub-agent, files and commands, with a scripted model and real tools."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("deepagents")

from deepagents import create_deep_agent
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from amplifier_core import HookResult
from amplifier_hooks.frameworks import govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call

SAY: Any = {"messages": "Do it."}
DENY = HookResult(action="deny", reason="not on my machine")


def delegate(*steps: Step, to: str = "general-purpose") -> list[Step]:
    """A script: have a sub-agent work, which takes these steps; then both are done.

    All of them have one model, so one script.
    """
    task = call("task", 1, description="Clean up.", subagent_type=to)
    return [[task], *steps, "The sub-agent is done.", DONE]


def make(stage: Stage, ran: Ran, script: list[Step], **more: Any) -> Any:
    """A deep agent with the line of the page."""
    asks = more.pop("asks", "inline")
    hooks = more.pop("hooks", None) or govern(
        stage.registry, approval=stage.person, display=stage.display, audit=stage.audit
    )
    middleware = [AmplifierMiddleware(hooks, asks=asks)]
    return create_deep_agent(
        make_model(script, ran.requests), make_tools(ran), middleware=middleware, **more
    )


@pytest.mark.parametrize("is_async", [True, False])
@pytest.mark.parametrize("ungoverned", ["warn", "deny"])
async def test_calls_of_the_built_in_sub_agent_are_governed(
    stage: Stage, ungoverned: Any, is_async: bool
) -> None:
    """It is not given the middleware, and reads a denial all the same."""
    stage.answer("tool:pre", DENY, tool="wipe")
    hooks = govern(stage.registry, display=stage.display, audit=stage.audit, ungoverned=ungoverned)
    ran = Ran()
    script = delegate([call("wipe", 2, path="/tmp/x"), call("note", 3, text="a")])
    agent = make(stage, ran, script, hooks=hooks)
    state = await agent.ainvoke(SAY) if is_async else agent.invoke(SAY)
    assert ran.calls == [("note", {"text": "a"})]
    assert "not on my machine" in ran.requests[2]
    assert state["messages"][-1].content == DONE
    assert not [text for text, *_ in stage.display.messages if "agent" in text]
    parents = [one["body"].get("parent") for one in stage.of_type("session_started")]
    assert len(parents) == 2
    assert parents[1] == stage.of_type("session_started")[0]["session"]


async def test_so_are_its_files_which_it_shares_with_its_caller(stage: Stage) -> None:
    """Tools that deepagents itself brings, in the agent and in the sub-agent."""
    script = delegate([call("write_file", 2, file_path="/a.txt", content="secret")])
    stage.answer("tool:pre", DENY, tool="write_file")
    ran = Ran()
    state = await make(stage, ran, script).ainvoke(SAY)
    assert "not on my machine" in ran.requests[2]
    assert not state.get("files")


async def test_a_sub_agent_of_the_program_is_governed_as_well(stage: Stage) -> None:
    """Named in subagents=[...], without any middleware of ours."""
    stage.listen("agent:spawn", "tool:pre")
    ran = Ran()
    cleaner: Any = {"name": "cleaner", "description": "Cleans.", "system_prompt": "Clean."}
    script = delegate([call("wipe", 2, path="/tmp/x")], to="cleaner")
    await make(stage, ran, script, subagents=[cleaner]).ainvoke(SAY)
    assert stage.heard.names == ["tool:pre", "agent:spawn", "tool:pre"]
    spawn = stage.heard.events[1][1]
    assert (spawn["agent_name"], spawn["task"]) == ("cleaner", "Clean up.")
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_a_question_in_the_sub_agent_is_answered_in_langchains_form(stage: Stage) -> None:
    """By a page that was written for deepagents, whose own questions have that form."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    script = delegate([call("wipe", 2, path="/tmp/x")])
    agent = make(stage, ran, script, asks="interrupt", checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    (question,) = (await agent.ainvoke(SAY, config))["__interrupt__"]
    assert question.value["action_requests"][0]["args"] == {"path": "/tmp/x"}
    assert ran.calls == []
    decided = {"decisions": [{"type": "approve"}]}
    state = await agent.ainvoke(Command(resume=decided), config)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert state["messages"][-1].content == DONE
