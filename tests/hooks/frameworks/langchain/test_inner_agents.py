"""Agents without the middleware that a governed tool call starts: their tool calls are governed."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware.types import AgentMiddleware
from langchain_core.tools import StructuredTool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.types import Command

from amplifier_core import HookResult
from amplifier_hooks.external.coverage_gaps import Ungoverned
from amplifier_hooks.frameworks import answer, govern
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.inner_agents import take_tool_nodes
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use

SAY: Any = {"messages": "Do it."}
HELP = use(call("helper", 1, task="Clean up."))
WIPE = use(call("wipe", 2, path="/tmp/x"))
DENY = HookResult(action="deny", reason="not on my machine")


class Inner:
    """An agent that knows nothing of us, and the tool that has it work."""

    def __init__(self, ran: Ran, script: list[Step], **more: Any) -> None:
        self.requests: list[str] = []
        model = make_model(script, self.requests)
        self.agent: Any = create_agent(model, make_tools(ran), name="cleaner", **more)

        async def call_async(task: str) -> str:
            """Have somebody else do it."""
            return str((await self.agent.ainvoke({"messages": task}))["messages"][-1].content)

        def call_sync(task: str) -> str:
            """Have somebody else do it."""
            return str(self.agent.invoke({"messages": task})["messages"][-1].content)

        self.tool = StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")


async def run(stage: Stage, ran: Ran, inner: Inner, *, is_async: bool = True, **more: Any) -> Any:
    """An agent with the middleware, which has the other one work."""
    hooks = govern(stage.registry, approval=stage.person, display=stage.display, audit=stage.audit)
    middleware = more.pop("hooks", None) or AmplifierMiddleware(hooks)
    model = make_model(HELP, ran.requests)
    agent = create_agent(model, [inner.tool], middleware=[middleware])
    if is_async:
        return await agent.ainvoke(SAY, **more)
    return await asyncio.to_thread(agent.invoke, SAY, **more)


BOTH_WAYS = pytest.mark.parametrize("is_async", [True, False])


@BOTH_WAYS
async def test_its_calls_are_those_of_a_child(stage: Stage, is_async: bool) -> None:
    """It has a session of its own, whose parent is its caller's, and nobody is warned."""
    stage.listen("session:start", "agent:spawn", "tool:pre", "agent:complete", "session:end")
    ran = Ran()
    await run(stage, ran, Inner(ran, WIPE), is_async=is_async)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.heard.names == [
        "session:start",
        "tool:pre",
        "agent:spawn",
        "session:start",
        "tool:pre",
        "session:end",
        "agent:complete",
        "session:end",
    ]
    data = [one for _, one in stage.heard.events]
    assert (data[2]["agent_name"], data[2]["task"]) == ("cleaner", "Clean up.")
    assert data[3]["parent_id"] == data[0]["session_id"]
    assert [data[5]["reason"], data[6]["status"]] == ["complete", "success"]
    assert not stage.display.messages


@BOTH_WAYS
async def test_a_denied_call_does_not_run(stage: Stage, is_async: bool) -> None:
    """Its model reads why, as in an agent with the middleware, and it goes on."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    inner = Inner(ran, WIPE)
    await run(stage, ran, inner, is_async=is_async)
    assert ran.calls == []
    assert "not on my machine" in inner.requests[-1]
    assert DONE in ran.requests[-1]


async def test_a_call_and_its_result_are_changed(stage: Stage) -> None:
    """What hooks make of them is what runs, and what its model reads."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe")
    stage.answer("tool:post", change_output("[removed]"), tool="wipe")
    ran = Ran()
    inner = Inner(ran, WIPE)
    await run(stage, ran, inner)
    assert ran.calls == [("wipe", {"path": "/tmp/y"})]
    assert "[removed]" in inner.requests[-1]


@BOTH_WAYS
async def test_people_are_asked(stage: Stage, is_async: bool) -> None:
    """While everything waits."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    await run(stage, ran, Inner(ran, WIPE), is_async=is_async)
    assert stage.person.prompts == ["May it?"]
    assert len(ran.calls) == 1


async def test_a_question_interrupts_both(stage: Stage) -> None:
    """And both go on after the answer, which is asked for once."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    middleware = AmplifierMiddleware(stage.hooks, asks="interrupt")
    agent = create_agent(
        make_model(HELP, ran.requests),
        [Inner(ran, WIPE).tool],
        middleware=[middleware],
        checkpointer=InMemorySaver(),
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    (question,) = (await agent.ainvoke(SAY, config))["__interrupt__"]
    assert ran.calls == []
    resume = {question.id: answer(question.value, "Allow")}
    state = await agent.ainvoke(Command(resume=resume), config)
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert state["messages"][-1].content == DONE


@BOTH_WAYS
async def test_it_may_be_refused(stage: Stage, is_async: bool) -> None:
    """Then none of its calls runs."""
    stage.answer("agent:spawn", HookResult(action="deny", reason="do it yourself"))
    ran = Ran()
    inner = Inner(ran, WIPE)
    await run(stage, ran, inner, is_async=is_async)
    assert ran.calls == []
    assert "do it yourself" in inner.requests[-1]


async def test_its_task_cannot_be_changed(stage: Stage) -> None:
    """It has read it; the change is not dropped in silence."""

    def change(data: dict[str, Any]) -> HookResult:
        return HookResult(action="modify", data={**data, "task": "Only look."})

    stage.answer("agent:spawn", change)
    ran = Ran()
    inner = Inner(ran, WIPE)
    await run(stage, ran, inner)
    assert ran.calls == []
    assert "which had it already" in inner.requests[-1]


@pytest.mark.parametrize("ungoverned", ["warn", "deny"])
async def test_none_of_the_settings_stops_it(stage: Stage, ungoverned: Ungoverned) -> None:
    """It is governed."""
    hooks = govern(stage.registry, display=stage.display, audit=stage.audit, ungoverned=ungoverned)
    ran = Ran()
    await run(stage, ran, Inner(ran, WIPE), hooks=AmplifierMiddleware(hooks))
    assert len(ran.calls) == 1
    assert not stage.display.messages


class Rewrites(AgentMiddleware[Any, Any, Any]):
    """Middleware of its own, which changes a call."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        changed = {**request.tool_call, "args": {"path": "/etc"}}
        return await handler(request.override(tool_call=changed))


async def test_hooks_see_what_its_own_middleware_made_of_a_call(stage: Stage) -> None:
    """They stand behind it."""
    stage.listen("tool:pre")
    ran = Ran()
    await run(stage, ran, Inner(ran, WIPE, middleware=[Rewrites()]))
    assert [data["tool_input"] for _, data in stage.heard.events][1:] == [{"path": "/etc"}]
    assert ran.calls == [("wipe", {"path": "/etc"})]


async def test_outside_of_a_governed_call_it_does_what_it_did(stage: Stage) -> None:
    """The same agent, called by the program itself, before and after."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    inner = Inner(ran, [*WIPE, *WIPE, *WIPE])
    await inner.agent.ainvoke(SAY)
    await run(stage, ran, inner)
    assert len(ran.calls) == 1
    await inner.agent.ainvoke(SAY)
    assert len(ran.calls) == 2


async def test_each_caller_has_its_own_hooks(stage: Stage) -> None:
    """One agent below two others: nothing of the first caller stays with it."""
    other = Stage()
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    inner = Inner(ran, [*WIPE, *WIPE, *WIPE])
    await run(stage, ran, inner)
    assert ran.calls == []
    await run(other, ran, inner)
    assert len(ran.calls) == 1
    await run(stage, ran, inner)
    assert len(ran.calls) == 1
    assert len(other.of_type("tool_started")) == 2
    other.close()


async def test_a_tool_node_that_has_the_middleware_judges_once(stage: Stage) -> None:
    """A graph by hand whose node was given it, below an agent with it."""
    stage.listen("tool:pre")
    ran = Ran()
    inner = Inner(ran, WIPE)
    hooks = AmplifierMiddleware(stage.hooks)
    node: Any = inner.agent.nodes["tools"].bound
    assert isinstance(node, ToolNode)
    node._wrap_tool_call, node._awrap_tool_call = hooks.wrap_tool_call, hooks.awrap_tool_call
    await run(stage, ran, inner, hooks=hooks)
    assert [data["tool_name"] for _, data in stage.heard.events] == ["helper", "wipe"]


async def test_a_call_of_the_same_name_and_id_is_judged(stage: Stage) -> None:
    """Models number their calls as they like; only the very call that was judged passes."""
    stage.listen("tool:pre")
    ran = Ran()
    inner = Inner(ran, use(call("helper", 1, text="b")))
    note = StructuredTool.from_function(make_tools(ran)[0].func, name="helper")
    inner.agent.nodes["tools"].bound._tools_by_name["helper"] = note
    await run(stage, ran, inner)
    given = [data["tool_input"] for _, data in stage.heard.events]
    assert given == [{"task": "Clean up."}, {"text": "b"}]


async def test_one_below_it_is_governed_too(stage: Stage) -> None:
    """However deep."""
    stage.answer("tool:pre", DENY, tool="wipe")
    ran = Ran()
    deep = Inner(ran, WIPE)
    middle = Inner(ran, use(call("helper", 1, task="c")))
    middle.agent.nodes["tools"].bound._tools_by_name["helper"] = deep.tool
    await run(stage, ran, middle)
    assert ran.calls == []
    assert "not on my machine" in deep.requests[-1]
    parents = [one["body"].get("parent") for one in stage.of_type("session_started")]
    assert len(parents) == len(set(parents)) == 3


async def test_a_tool_that_holds_up_the_loop_has_it_named(stage: Stage) -> None:
    """Hooks could not be called meanwhile, also where an earlier call had them judge it."""
    ran = Ran()
    inner = Inner(ran, [*WIPE, *WIPE])
    plain = inner.tool.func
    await run(stage, ran, inner)
    assert not stage.display.messages

    async def block(task: str) -> str:
        """Have somebody else do it."""
        return str(plain(task))

    inner.tool = StructuredTool.from_function(coroutine=block, name="helper")
    await run(stage, ran, inner)
    assert "'cleaner' was started by a tool without hooks" in str(stage.display.messages)
    assert len(ran.calls) == 2


async def test_a_tool_node_with_the_middleware_below_such_a_tool_runs_nothing(
    stage: Stage,
) -> None:
    """Its thread would wait for the loop that waits for it."""
    ran = Ran()
    inner, hooks = Inner(ran, WIPE), AmplifierMiddleware(stage.hooks)
    inner.agent.nodes["tools"].bound._wrap_tool_call = hooks.wrap_tool_call
    plain = inner.tool.func

    async def block(task: str) -> str:
        """Have somebody else do it."""
        return str(plain(task))

    inner.tool = StructuredTool.from_function(coroutine=block, name="helper")
    with pytest.raises(RuntimeError, match="use the asynchronous entry point"):
        await run(stage, ran, inner, hooks=hooks)
    assert ran.calls == []


def test_nothing_is_taken_over_outside_of_a_run() -> None:
    assert take_tool_nodes() is False


async def test_a_langgraph_that_calls_tools_otherwise_has_it_named(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is claimed that is not so."""
    ran = Ran()
    inner = Inner(ran, WIPE)
    node: Any = inner.agent.nodes["tools"].bound
    monkeypatch.delattr(node, "_awrap_tool_call")
    with pytest.raises(AttributeError, match="_awrap_tool_call"):
        await run(stage, ran, inner)
    assert "'cleaner' was started by a tool without hooks" in str(stage.display.messages)
