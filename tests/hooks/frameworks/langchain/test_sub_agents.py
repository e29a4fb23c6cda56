"""Agents that tools start, with hooks and without."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command

from amplifier_core import HookResult
from amplifier_hooks.coverage import Asking
from amplifier_hooks.external.coverage_gaps import Ungoverned
from amplifier_hooks.frameworks import answer, govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.sub_agents import Stopped
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use

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


HELP_REQUEST: list[Step] = [[call("helper", 1, task="a")], [call("helper", 2, task="b")], DONE]
WIPE = use(call("wipe", 2, path="/tmp/x"))


def make_middleware(stage: Stage, ungoverned: Ungoverned = "warn") -> AmplifierMiddleware:
    """Hooks with such a setting."""
    hooks = govern(stage.registry, display=stage.display, audit=stage.audit, ungoverned=ungoverned)
    return AmplifierMiddleware(hooks)


def make_graph(script: list[Step], ran: Ran, name: str | None = None) -> Any:
    """A graph whose own node calls the tools: nothing there can be taken over."""
    model, tools = make_model(script, []), {one.name: one for one in make_tools(ran)}

    async def work(state: MessagesState) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [await tools[one["name"]].ainvoke(one) for one in calls]}

    def work_sync(state: MessagesState) -> Any:
        calls = state["messages"][-1].tool_calls
        return {"messages": [tools[one["name"]].invoke(one) for one in calls]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", RunnableLambda(work_sync, work))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(name=name)


def make_helper(ran: Ran, name: str | None = "cleaner", **more: Any) -> StructuredTool:
    """A tool that makes an agent and has it work; without `more`, one of no known kind."""

    def make() -> Any:
        if not more:
            return make_graph(WIPE, ran, name)
        return create_agent(make_model(WIPE, []), make_tools(ran), name=name, **more)

    async def call_async(task: str) -> str:
        """Have somebody else do it."""
        return str((await make().ainvoke({"messages": task}))["messages"][-1].content)

    def call_sync(task: str) -> str:
        """Have somebody else do it."""
        return str(make().invoke({"messages": task})["messages"][-1].content)

    return StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")


async def run(
    ran: Ran, middleware: AmplifierMiddleware, tool: Any, *, is_async: bool = True, **config: Any
) -> Any:
    """An agent with the middleware, which calls the tool twice."""
    agent = create_agent(make_model(HELP_REQUEST, ran.requests), [tool], middleware=[middleware])
    if is_async:
        return await agent.ainvoke(SAY, config or None)  # type: ignore[arg-type]
    return await asyncio.to_thread(agent.invoke, SAY, config or None)  # type: ignore[arg-type]


def list_said(stage: Stage) -> list[str]:
    """What people were shown about agents."""
    return [text for text, _, _ in stage.display.messages if "agent" in text]


@pytest.mark.parametrize("is_async", [True, False])
async def test_it_is_said_once_by_name(stage: Stage, is_async: bool) -> None:
    ran = Ran()
    await run(ran, make_middleware(stage), make_helper(ran), is_async=is_async)
    assert len(ran.ran("wipe")) == 2
    (said,) = list_said(stage)
    assert said.startswith("The agent 'cleaner' was started by a tool without hooks: give it")
    assert [one["body"]["text"] for one in stage.of_type("user_message")] == [said]
    assert len({one["session"] for one in stage.of_type("session_started")}) == 1


@pytest.mark.parametrize("is_async", [True, False])
async def test_it_is_refused_before_its_model_is_asked(stage: Stage, is_async: bool) -> None:
    ran = Ran()
    middleware = make_middleware(stage, "deny")
    state = await run(ran, middleware, make_helper(ran, None), is_async=is_async)
    assert ran.calls == []
    read = [one for one in state["messages"] if one.type == "tool"]
    assert len(read) == 2
    assert all(one.status == "error" for one in read)
    assert "the agent 'agent' has no hooks, and session.ungoverned is deny" in read[0].content


@pytest.mark.parametrize("ungoverned", ["warn", "deny"])
async def test_an_agent_with_the_middleware_is_none_of_them(
    stage: Stage, ungoverned: Ungoverned
) -> None:
    ran, middleware = Ran(), make_middleware(stage, ungoverned)
    await run(ran, middleware, make_helper(ran, middleware=[middleware]))
    assert len(ran.ran("wipe")) == 2
    assert list_said(stage) == []


async def test_neither_is_one_in_a_net(stage: Stage) -> None:
    ran, middleware = Ran(), make_middleware(stage, "deny")
    await run(ran, middleware, make_helper(ran), callbacks=[middleware.net()])
    assert len(ran.ran("wipe")) == 2
    assert list_said(stage) == []


async def test_a_tool_that_asks_a_model_or_another_tool_starts_no_agent(stage: Stage) -> None:
    ran, middleware = Ran(), make_middleware(stage, "deny")
    note = make_tools(ran)[0]

    async def helper(task: str) -> str:
        """Think about it."""
        await note.ainvoke({"text": task})
        return str((await make_model([DONE], []).ainvoke(task)).content)

    await run(ran, middleware, StructuredTool.from_function(coroutine=helper, name="helper"))
    assert len(ran.ran("note")) == 2
    assert list_said(stage) == []


async def test_one_below_a_governed_sub_agent_is_said_in_its_trail(stage: Stage) -> None:
    """The watch of the outer call leaves it to that of the inner one."""
    ran, middleware = Ran(), make_middleware(stage)
    inner = make_helper(ran, "deep")
    script = use(call("helper", 3, task="c"))
    outer = create_agent(make_model([*script, *script], []), [inner], middleware=[middleware])

    async def helper(task: str) -> str:
        """Have somebody else do it."""
        return str((await outer.ainvoke({"messages": task}))["messages"][-1].content)

    await run(ran, middleware, StructuredTool.from_function(coroutine=helper, name="helper"))
    children = [one for one in stage.of_type("session_started") if one["body"]["parent"]]
    said = [one for one in stage.of_type("user_message") if "'deep'" in one["body"]["text"]]
    assert {one["session"] for one in said} == {one["session"] for one in children}


async def test_an_async_tool_that_calls_it_by_invoke_is_seen(stage: Stage) -> None:
    """Nobody can be waited for on the thread of the loop, and nothing is lost."""
    for ungoverned in ("warn", "deny"):
        ran, middleware = Ran(), make_middleware(stage, ungoverned)  # type: ignore[arg-type]
        plain = make_helper(ran)

        async def helper(task: str, plain: Any = plain) -> str:
            """Have somebody else do it."""
            return str(plain.func(task))

        tool = StructuredTool.from_function(
            coroutine=helper, name="helper", args_schema=plain.args_schema
        )
        await run(ran, middleware, tool)
        assert len(ran.ran("wipe")) == (2 if ungoverned == "warn" else 0)
    assert len([one for one in list_said(stage) if "was started by a tool" in one]) == 1


def test_the_setting_is_checked(stage: Stage) -> None:
    with pytest.raises(ValueError, match=r"session.ungoverned: 'warn' or 'deny', got 'no'"):
        make_middleware(stage, "no")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has been made already"):
        govern(stage.hooks, ungoverned="deny")


DENY = HookResult(action="deny", reason="not on my machine")


def make_pair(ran: Ran, helper: list[Step]) -> tuple[StructuredTool, Any]:
    """A tool that calls a sub-agent without any middleware, and that sub-agent."""
    inner = make_graph(helper, ran)

    async def call_async(task: str) -> str:
        """Have somebody else do it."""
        return str((await inner.ainvoke({"messages": task}))["messages"][-1].content)

    def call_sync(task: str) -> str:
        """Have somebody else do it."""
        return str(inner.invoke({"messages": task})["messages"][-1].content)

    tool = StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")
    return tool, inner


async def run_with_net(
    stage: Stage, helper: list[Step], *, is_async: bool = True
) -> tuple[Ran, Any]:
    """An agent with the middleware and the net, and a sub-agent with neither."""
    ran = Ran()
    tool, _ = make_pair(ran, helper)
    middleware = AmplifierMiddleware(stage.hooks)
    agent = create_agent(make_model(HELP, ran.requests), [tool], middleware=[middleware])
    config: Any = {"callbacks": [middleware.net()]}
    if is_async:
        return ran, await agent.ainvoke(SAY, config)
    return ran, await asyncio.to_thread(agent.invoke, SAY, config)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_call_of_a_sub_agent_is_seen_once(stage: Stage, is_async: bool) -> None:
    """Calls that the middleware has judged are not judged again by the net."""
    stage.listen("tool:pre", "tool:post")
    ran, state = await run_with_net(stage, WIPE, is_async=is_async)
    names = [(event, data["tool_name"]) for event, data in stage.heard.events]
    assert names == [
        ("tool:pre", "helper"),
        ("tool:pre", "wipe"),
        ("tool:post", "wipe"),
        ("tool:post", "helper"),
    ]
    assert stage.heard.events[1][1]["tool_input"] == {"path": "/tmp/x"}
    assert "wiped /tmp/x" in str(stage.heard.events[2][1]["tool_result"]["output"])
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert state["messages"][-1].content == DONE


async def test_a_sub_agent_may_call_a_tool_of_the_same_name(stage: Stage) -> None:
    """Only the call that the middleware has judged is known to it."""
    stage.listen("tool:pre")
    ran = Ran()
    inner: Any = create_agent(make_model(use(call("note", 2, text="b")), []), make_tools(ran))

    async def delegate(text: str) -> str:
        """Have somebody else note it."""
        return str((await inner.ainvoke({"messages": text}))["messages"][-1].content)

    tool = StructuredTool.from_function(coroutine=delegate, name="note")
    middleware = AmplifierMiddleware(stage.hooks)
    model = make_model(use(call("note", 1, text="a")), ran.requests)
    agent = create_agent(model, [tool], middleware=[middleware])
    await agent.ainvoke(SAY, {"callbacks": [middleware.net()]})
    assert [data["tool_input"] for _, data in stage.heard.events] == [{"text": "a"}, {"text": "b"}]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_denied_call_stops_the_sub_agent(stage: Stage, is_async: bool) -> None:
    """The agent that called it reads why, and goes on."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran, state = await run_with_net(stage, WIPE, is_async=is_async)
    assert ran.calls == []
    assert "not on my machine" in ran.requests[-1]
    assert "stopped the agent that called wipe" in ran.requests[-1]
    assert state["messages"][-1].content == DONE


async def test_people_are_asked(stage: Stage) -> None:
    """A yes lets the call run_with_net; the trail has it before it does."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran, _ = await run_with_net(stage, WIPE)
    assert len(ran.calls) == 1
    started = [one["body"]["tool"] for one in stage.of_type("tool_started")]
    assert started == ["helper", "wipe"]


async def test_a_guard_that_raises_stops_the_sub_agent(stage: Stage) -> None:
    """Guards fail closed here too."""

    def fail(data: dict[str, Any]) -> HookResult:
        raise OSError("no database")

    stage.answer("tool:pre", fail, tool="wipe", name="watcher")
    ran, _ = await run_with_net(stage, WIPE)
    assert len(ran.calls) == 1, "an observer stops nothing"
    stage.answer("tool:pre", lambda data: fail(data), tool="wipe", name="guard", on_error="deny")
    ran, _ = await run_with_net(stage, WIPE)
    assert ran.calls == []


async def test_what_a_net_cannot_change_is_refused(stage: Stage) -> None:
    """A hook that rewrites a call would be ignored, so the call does not run_with_net."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe")
    ran, _ = await run_with_net(stage, WIPE)
    assert ran.calls == []
    assert "give the sub-agent AmplifierMiddleware" in ran.requests[-1]


async def test_a_result_that_a_net_cannot_change_goes_nowhere(stage: Stage) -> None:
    """The sub-agent is stopped before its model reads it."""
    stage.answer("tool:post", change_output("[removed]"), tool="wipe")
    ran, _ = await run_with_net(stage, WIPE)
    assert "which a net cannot do" in ran.requests[-1]
    assert "wiped" not in ran.requests[-1]


async def test_a_denied_result_goes_nowhere(stage: Stage) -> None:
    """The same for one that is withheld."""
    stage.answer("tool:post", DENY, tool="wipe")
    ran, _ = await run_with_net(stage, WIPE)
    assert "not on my machine" in ran.requests[-1]
    assert "wiped" not in ran.requests[-1]


async def test_a_call_that_fails_is_told(stage: Stage) -> None:
    """The exception is the tool's own."""
    stage.listen("tool:error")
    with pytest.raises(RuntimeError, match="boom x"):
        await run_with_net(stage, use(call("boom", 2, text="x")))
    assert [data["tool_name"] for _, data in stage.heard.events] == ["boom", "helper"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_agent_that_has_only_the_net_has_a_session(stage: Stage, is_async: bool) -> None:
    """It is opened with the first call and ended with the run_with_net."""
    stage.listen("session:start", "tool:pre", "session:end")
    ran = Ran()
    agent = create_agent(make_model(WIPE, ran.requests), make_tools(ran))
    config: Any = {"callbacks": [AmplifierMiddleware(stage.hooks).net()]}
    await (agent.ainvoke(SAY, config) if is_async else asyncio.to_thread(agent.invoke, SAY, config))
    assert stage.heard.names == ["session:start", "tool:pre", "session:end"]
    assert stage.heard.events[2][1]["reason"] == "complete"


def test_parallel_calls_have_one_session(stage: Stage) -> None:
    """Whichever of their threads comes first opens it."""
    stage.listen("session:start", "session:end")
    ran = Ran()
    calls = [call("note", number, text="a") for number in range(8)]
    agent = create_agent(make_model(use(*calls), []), make_tools(ran))
    agent.invoke(SAY, {"callbacks": [AmplifierMiddleware(stage.hooks).net()]})
    assert len(ran.calls) == 8
    assert stage.heard.names == ["session:start", "session:end"]


async def test_an_agent_that_has_only_the_net_is_stopped(stage: Stage) -> None:
    """The caller gets the reason as an exception, and the session ends."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:end")
    ran = Ran()
    agent = create_agent(make_model(WIPE, ran.requests), make_tools(ran))
    with pytest.raises(Stopped, match="not on my machine"):
        await agent.ainvoke(SAY, {"callbacks": [AmplifierMiddleware(stage.hooks).net()]})
    assert ran.calls == []
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


def test_a_tool_that_a_program_calls_itself(stage: Stage) -> None:
    """A net around a single call judges that, too."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:end")
    ran, net = Ran(), AmplifierMiddleware(stage.hooks).net()
    note, wipe, _ = make_tools(ran)
    assert note.invoke({"text": "a"}, {"callbacks": [net]}) == "noted a"
    with pytest.raises(Stopped):
        wipe.invoke({"path": "/"}, {"callbacks": [net]})
    assert ran.calls == [("note", {"text": "a"})]
    assert [data["reason"] for _, data in stage.heard.events] == ["complete", "denied"]


def test_a_refused_session_stops_the_call(stage: Stage) -> None:
    """Without a session nothing is judged, so nothing runs."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    ran, net = Ran(), AmplifierMiddleware(stage.hooks).net()
    note, *_ = make_tools(ran)
    with pytest.raises(Exception, match="not today"):
        note.invoke({"text": "a"}, {"callbacks": [net]})
    assert ran.calls == []


def build(stage: Stage, ran: Ran, asks: Asking = "inline", saver: Any = None) -> Any:
    """A model and a tool node, without create_agent."""
    middleware = AmplifierMiddleware(stage.hooks, asks=asks)
    model = make_model(use(call("wipe", 1, path="/tmp/x")), ran.requests)
    node = ToolNode(
        make_tools(ran),
        wrap_tool_call=middleware.wrap_tool_call,
        awrap_tool_call=middleware.awrap_tool_call,
    )
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", node)
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile(checkpointer=saver)


async def run_graph(graph: Any, *, is_async: bool) -> Any:
    if is_async:
        return await graph.ainvoke(SAY)
    return await asyncio.to_thread(graph.invoke, SAY)


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_denied_call_does_not_run_and_the_model_reads_why(
    stage: Stage, is_async: bool
) -> None:
    """As in an agent of create_agent."""
    ran = Ran()
    stage.answer("tool:pre", HookResult(action="deny", reason="not on my machine"))
    state = await run_graph(build(stage, ran), is_async=is_async)
    assert not ran.calls
    assert "not on my machine" in str([one.content for one in state["messages"]])


@pytest.mark.parametrize("is_async", [True, False])
async def test_hooks_see_tools_and_the_session_but_no_prompt_and_no_model(
    stage: Stage, is_async: bool
) -> None:
    """Nothing of ours is called there."""
    ran = Ran()
    stage.listen("*")
    await run_graph(build(stage, ran), is_async=is_async)
    names = stage.heard.names
    assert ran.calls
    assert {"session:start", "tool:pre", "tool:post", "session:end"} <= set(names)
    assert not [one for one in names if one.startswith(("prompt:", "provider:"))]


async def test_a_question_of_a_tool_node_interrupts_the_graph(stage: Stage) -> None:
    """And a decision in LangChain's form lets the call run."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()
    graph = build(stage, ran, "interrupt", InMemorySaver())
    config: Any = {"configurable": {"thread_id": "1"}}
    await graph.ainvoke(SAY, config)
    assert ran.calls == []
    await graph.ainvoke(Command(resume={"decisions": [{"type": "approve"}]}), config)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.heard.names == ["session:start", "session:end"]
    assert stage.heard.events[-1][1]["reason"] == "complete"
