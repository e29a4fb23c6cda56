"""The net: tool calls of sub-agents that lack the middleware."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain_core.tools import StructuredTool

from amplifier_core import HookResult
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware
from amplifier_hooks.frameworks.langchain.sub_agents import Stopped
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use

SAY: Any = {"messages": "Do it."}
DENY = HookResult(action="deny", reason="not on my machine")
HELP = use(call("helper", 1, task="Clean up."))
WIPE = use(call("wipe", 2, path="/tmp/x"))


def make_pair(ran: Ran, helper: list[Step]) -> tuple[StructuredTool, Any]:
    """A tool that calls a sub-agent without any middleware, and that sub-agent."""
    inner: Any = create_agent(make_model(helper, []), make_tools(ran))

    async def call_async(task: str) -> str:
        """Have somebody else do it."""
        return str((await inner.ainvoke({"messages": task}))["messages"][-1].content)

    def call_sync(task: str) -> str:
        """Have somebody else do it."""
        return str(inner.invoke({"messages": task})["messages"][-1].content)

    tool = StructuredTool.from_function(call_sync, coroutine=call_async, name="helper")
    return tool, inner


async def run(stage: Stage, helper: list[Step], *, is_async: bool = True) -> tuple[Ran, Any]:
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
    ran, state = await run(stage, WIPE, is_async=is_async)
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
    ran, state = await run(stage, WIPE, is_async=is_async)
    assert ran.calls == []
    assert "not on my machine" in ran.requests[-1]
    assert "stopped the agent that called wipe" in ran.requests[-1]
    assert state["messages"][-1].content == DONE


async def test_people_are_asked(stage: Stage) -> None:
    """A yes lets the call run; the trail has it before it does."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran, _ = await run(stage, WIPE)
    assert len(ran.calls) == 1
    started = [one["body"]["tool"] for one in stage.of_type("tool_started")]
    assert started == ["helper", "wipe"]


async def test_a_guard_that_raises_stops_the_sub_agent(stage: Stage) -> None:
    """Guards fail closed here too."""

    def fail(data: dict[str, Any]) -> HookResult:
        raise OSError("no database")

    stage.answer("tool:pre", fail, tool="wipe", name="watcher")
    ran, _ = await run(stage, WIPE)
    assert len(ran.calls) == 1, "an observer stops nothing"
    stage.answer("tool:pre", lambda data: fail(data), tool="wipe", name="guard", on_error="deny")
    ran, _ = await run(stage, WIPE)
    assert ran.calls == []


async def test_what_a_net_cannot_change_is_refused(stage: Stage) -> None:
    """A hook that rewrites a call would be ignored, so the call does not run."""
    stage.answer("tool:pre", change_input(path="/tmp/y"), tool="wipe")
    ran, _ = await run(stage, WIPE)
    assert ran.calls == []
    assert "give the sub-agent AmplifierMiddleware" in ran.requests[-1]


async def test_a_result_that_a_net_cannot_change_goes_nowhere(stage: Stage) -> None:
    """The sub-agent is stopped before its model reads it."""
    stage.answer("tool:post", change_output("[removed]"), tool="wipe")
    ran, _ = await run(stage, WIPE)
    assert "which a net cannot do" in ran.requests[-1]
    assert "wiped" not in ran.requests[-1]


async def test_a_denied_result_goes_nowhere(stage: Stage) -> None:
    """The same for one that is withheld."""
    stage.answer("tool:post", DENY, tool="wipe")
    ran, _ = await run(stage, WIPE)
    assert "not on my machine" in ran.requests[-1]
    assert "wiped" not in ran.requests[-1]


async def test_a_call_that_fails_is_told(stage: Stage) -> None:
    """The exception is the tool's own."""
    stage.listen("tool:error")
    with pytest.raises(RuntimeError, match="boom x"):
        await run(stage, use(call("boom", 2, text="x")))
    assert [data["tool_name"] for _, data in stage.heard.events] == ["boom", "helper"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_agent_that_has_only_the_net_has_a_session(stage: Stage, is_async: bool) -> None:
    """It is opened with the first call and ended with the run."""
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
