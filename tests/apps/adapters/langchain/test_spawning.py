"""Sub-agents that have the middleware: their start is asked, their sessions belong together."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langgraph.graph import END, START, MessagesState, StateGraph

from amplifier_apps.adapters.langchain import AmplifierMiddleware
from amplifier_core import HookResult
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, call, use

SAY: Any = {"messages": "Do it."}
HELP = use(call("helper", 1, task="Clean up."))
NOTE = use(call("note", 2, text="a"))


def make(stage: Stage, ran: Ran, helper: list[Step], sent: list[str]) -> Any:
    """An agent with a sub-agent named cleaner; both have the middleware."""
    middleware = AmplifierMiddleware(stage.hooks)
    model = make_model(helper, sent)
    inner: Any = create_agent(model, make_tools(ran), middleware=[middleware], name="cleaner")

    async def call_async(task: str) -> str:
        """Have somebody else do it."""
        return str((await inner.ainvoke({"messages": task}))["messages"][-1].content)

    def call_sync(task: str) -> str:
        """Have somebody else do it."""
        return str(inner.invoke({"messages": task})["messages"][-1].content)

    tool = StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")
    return create_agent(make_model(HELP, ran.requests), [tool], middleware=[middleware])


async def test_the_start_of_a_sub_agent_is_told_to_its_parent(stage: Stage) -> None:
    """With its name and its task; its end, with what it said."""
    stage.listen("agent:spawn", "agent:complete")
    await make(stage, Ran(), NOTE, []).ainvoke(SAY)
    spawn, complete = (data for _, data in stage.heard.events)
    first, second = (one["session"] for one in stage.of_type("session_started"))
    assert [spawn["agent_name"], spawn["task"]] == ["cleaner", "Clean up."]
    assert spawn["parent_session_id"] == complete["parent_session_id"] == first
    assert complete["result"] == {"response": DONE}
    assert complete["status"] == "success"
    parents = [one["body"].get("parent") for one in stage.of_type("session_started")]
    assert parents == [None, first]
    assert second != first


def test_a_sub_agent_in_a_thread(stage: Stage) -> None:
    """The same for the synchronous entry point."""
    stage.listen("agent:spawn", "tool:pre", "agent:complete")
    ran = Ran()
    make(stage, ran, NOTE, []).invoke(SAY)
    assert stage.heard.names == ["tool:pre", "agent:spawn", "tool:pre", "agent:complete"]
    assert ran.ran("note") == [{"text": "a"}]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_sub_agent_may_be_refused(stage: Stage, is_async: bool) -> None:
    """Its model is not called, and the agent that wanted it reads why."""
    stage.answer("agent:spawn", HookResult(action="deny", reason="do it yourself"))
    stage.listen("agent:complete")
    ran, sent = Ran(), list[str]()
    agent = make(stage, ran, NOTE, sent)
    if is_async:
        await agent.ainvoke(SAY)
    else:
        agent.invoke(SAY)
    assert sent == []
    assert "do it yourself" in ran.requests[-1]
    assert stage.heard.names == []


async def test_the_task_of_a_sub_agent_may_be_changed(stage: Stage) -> None:
    """Its model gets the other one."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": "Only look."})

    stage.answer("agent:spawn", change)
    ran, sent = Ran(), list[str]()
    await make(stage, ran, [DONE], sent).ainvoke(SAY)
    assert "Only look." in sent[0]
    assert "Clean up." not in sent[0]


async def test_a_task_that_a_hook_spoils_starts_nothing(stage: Stage) -> None:
    """Only a text is a task."""

    def spoil(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": 7})

    stage.answer("agent:spawn", spoil)
    ran, sent = Ran(), list[str]()
    await make(stage, ran, [DONE], sent).ainvoke(SAY)
    assert sent == []
    assert "left no task for cleaner: int" in ran.requests[-1]


async def test_a_sub_agent_that_fails_is_told(stage: Stage) -> None:
    """Its session ends before that of its parent."""
    stage.listen("agent:complete", "session:end")
    with pytest.raises(RuntimeError, match="boom x"):
        await make(stage, Ran(), use(call("boom", 2, text="x")), []).ainvoke(SAY)
    assert stage.heard.names == ["session:end", "agent:complete", "session:end"]
    assert stage.heard.events[1][1]["status"] == "error"


async def test_agents_that_are_nodes_of_a_graph_have_sessions_of_their_own(stage: Stage) -> None:
    """LangGraph runs them inside one run; they do not share ours."""
    stage.listen("session:start", "prompt:answer", "session:end")
    middleware = AmplifierMiddleware(stage.hooks)
    graph: Any = StateGraph(MessagesState)
    for name in ("one", "two"):
        model = make_model([f"{name} is done"], [])
        graph.add_node(name, create_agent(model, [], middleware=[middleware], name=name))
    graph.add_edge(START, "one").add_edge("one", "two").add_edge("two", END)
    state = await graph.compile().ainvoke(SAY)
    assert [one.content for one in state["messages"]] == ["Do it.", "one is done", "two is done"]
    assert stage.heard.names == ["session:start", "prompt:answer", "session:end"] * 2
    assert len({one["session"] for one in stage.of_type("session_started")}) == 2
