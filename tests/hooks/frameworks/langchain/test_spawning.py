"""Sub-agents that have the middleware: their start is asked, their sessions belong together."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
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


def make_blocking(stage: Stage, ran: Ran, *, on_loop: bool) -> Any:
    """An agent whose tool calls its sub-agent synchronously."""
    middleware = AmplifierMiddleware(stage.hooks)
    inner: Any = create_agent(make_model(NOTE, []), make_tools(ran), middleware=[middleware])

    def call_helper(task: str) -> str:
        """Have somebody else do it."""
        return str(inner.invoke({"messages": task})["messages"][-1].content)

    async def block(task: str) -> str:
        """Have somebody else do it."""
        return call_helper(task)

    if on_loop:
        tool = StructuredTool.from_function(coroutine=block, name="helper")
    else:
        tool = StructuredTool.from_function(call_helper, name="helper")
    return create_agent(make_model(HELP, ran.requests), [tool], middleware=[middleware])


async def test_a_synchronous_tool_of_an_asynchronous_agent_may_start_one(stage: Stage) -> None:
    """LangChain calls the tool in a thread, and the hooks on the loop of the run."""
    stage.listen("agent:spawn", "session:end")
    ran = Ran()
    await make_blocking(stage, ran, on_loop=False).ainvoke(SAY)
    assert ran.ran("note") == [{"text": "a"}]
    assert stage.heard.names == ["agent:spawn", "session:end", "session:end"]


async def test_a_tool_that_blocks_the_loop_of_its_run_starts_none(stage: Stage) -> None:
    """Its hooks could not be called meanwhile; the error says what to do."""
    ran = Ran()
    with pytest.raises(RuntimeError, match="use the asynchronous entry point"):
        await make_blocking(stage, ran, on_loop=True).ainvoke(SAY)
    assert ran.calls == []


async def test_a_question_inside_a_sub_agent_interrupts_both(stage: Stage) -> None:
    """Both go on in their sessions after the answer; nobody is started twice."""
    stage.answer("tool:pre", HookResult(action="ask_user", approval_prompt="May it?"), tool="note")
    stage.listen("session:start", "agent:spawn", "agent:complete", "session:end")
    middleware, ran = AmplifierMiddleware(stage.hooks, asks="interrupt"), Ran()
    inner: Any = create_agent(make_model(NOTE, []), make_tools(ran), middleware=[middleware])

    async def call_helper(task: str) -> str:
        """Have somebody else do it."""
        return str((await inner.ainvoke({"messages": task}))["messages"][-1].content)

    tool = StructuredTool.from_function(coroutine=call_helper, name="helper")
    agent = create_agent(
        make_model(HELP, ran.requests),
        [tool],
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    state = await agent.ainvoke(SAY, config)
    (question,) = state["__interrupt__"]
    assert ran.calls == []
    resume = {question.id: answer(question.value, "Allow", by="ana")}
    state = await agent.ainvoke(Command(resume=resume), config)
    assert state["messages"][-1].content == DONE
    assert ran.ran("note") == [{"text": "a"}]
    started = ["session:start", "agent:spawn", "session:start"]
    assert stage.heard.names == [*started, "session:end", "agent:complete", "session:end"]
    assert stage.heard.events[4][1]["task"] == "Clean up."


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
