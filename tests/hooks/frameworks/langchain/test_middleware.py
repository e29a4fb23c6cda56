"""The middleware in agents of LangChain: its place, both ways to run, and what must not break."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langgraph.checkpoint.memory import InMemorySaver

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalQuestion
from amplifier_hooks.coverage import Asking
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware, coverage
from amplifier_hooks.frameworks.langchain.runs import read_graph_run
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import (
    ScriptedModel,
    make_model,
    make_tools,
)
from tests.adapters.stage import DONE, Stage, ask, call, use

THREAD: Any = {"configurable": {"thread_id": "1"}}
SAY: Any = {"messages": "Do it."}
WIPE = use(call("wipe", path="/tmp/x"))


class Outer(AgentMiddleware[Any, Any, Any]):
    """Other middleware, in front of ours: does something to each tool call."""

    def __init__(self, change: Callable[[Any], Any] = lambda request: request) -> None:
        super().__init__()
        self._change = change
        self.ended = threading.Event()
        self.seen: list[tuple[Any, Any]] = []

    def before_agent(self, state: Any, runtime: Any) -> None:
        """Learn of the end of the run."""

        async def unused(error: BaseException | None) -> None:
            raise AssertionError("this run is synchronous")

        read_graph_run().tell_end(lambda error: self.ended.set(), unused)

    async def abefore_agent(self, state: Any, runtime: Any) -> None:
        """Nothing."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Pass it on, changed."""
        return handler(self._change(request))

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Pass it on, changed."""
        result = await handler(self._change(request))
        self.seen.append((request, result))
        return result


class Inner(Outer):
    """Other middleware, behind ours: sees what we pass on."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        """Keep both objects."""
        result = await handler(request)
        self.seen.append((request, result))
        return result

    def wrap_model_call(self, request: Any, handler: Any) -> Any:
        """Not used here."""
        raise AssertionError("this run is asynchronous")

    async def awrap_model_call(self, request: Any, handler: Any) -> Any:
        """Keep both objects."""
        result = await handler(request)
        self.seen.append((request, result))
        return result


def make(stage: Stage, script: list[Step], ran: Ran, *others: Any, **options: Any) -> Any:
    """An agent with other middleware in front of ours."""
    middleware = [*others, AmplifierMiddleware(stage.hooks)]
    model, tools = make_model(script, ran.requests), make_tools(ran)
    return create_agent(model, tools, middleware=middleware, **options)


def test_asks_is_one_of_two(stage: Stage) -> None:
    """Anything else is refused with what would do."""
    wrong: Any = "later"
    with pytest.raises(ValueError, match="'inline' or 'interrupt', not 'later'"):
        AmplifierMiddleware(stage.hooks, asks=wrong)


def test_both_ways_to_ask_are_declared(stage: Stage) -> None:
    """What the class takes is what the table says."""
    ways: tuple[Asking, ...] = ("inline", "interrupt")
    assert coverage().asking == ways
    assert [AmplifierMiddleware(stage.hooks, asks=way).governor for way in ways]


async def test_nothing_is_copied_when_hooks_change_nothing(stage: Stage) -> None:
    """LangChain goes on with the very objects that it had."""
    stage.listen("provider:request", "provider:response", "tool:pre", "tool:post")
    outer, inner, ran = Outer(), Inner(), Ran()
    middleware = [outer, AmplifierMiddleware(stage.hooks), inner]
    script = use(call("note", text="a"))
    model, tools = make_model(script, ran.requests), make_tools(ran)
    with pytest.warns(RuntimeWarning, match="not the last"):
        state = await create_agent(model, tools, middleware=middleware).ainvoke(SAY)
    (outer_request, outer_result) = outer.seen[0]
    inner_request, inner_result = next(one for one in inner.seen if hasattr(one[0], "tool_call"))
    assert outer_request is inner_request
    assert outer_result is inner_result
    first = inner.seen[0][1].result[0]
    assert any(one is first for one in state["messages"])


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_middleware_behind_ours_is_warned_of_once(stage: Stage, is_async: bool) -> None:
    """It could change what was judged; in front of ours it cannot."""
    ours, ran = AmplifierMiddleware(stage.hooks), Ran()
    script = use(call("note", 1, text="a"), call("note", 2, text="b"))
    for middleware, count in (([Outer(), ours], 0), ([ours, Outer()], 1)):
        model, tools = make_model(script, ran.requests), make_tools(ran)
        agent = create_agent(model, tools, middleware=middleware)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            await (agent.ainvoke(SAY) if is_async else asyncio.to_thread(agent.invoke, SAY))
        ours_only = [one for one in caught if "not the last" in str(one.message)]
        assert len(ours_only) == count


async def test_people_see_what_other_middleware_made_of_the_call(stage: Stage) -> None:
    """Ours is last, so what is shown is what runs."""

    def change(request: Any) -> Any:
        return request.override(tool_call={**request.tool_call, "args": {"path": "/tmp/other"}})

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    await make(stage, WIPE, ran, Outer(change)).ainvoke(SAY)
    assert [one.tool_input for one in stage.person.questions] == [{"path": "/tmp/other"}]
    assert ran.calls == [("wipe", {"path": "/tmp/other"})]


async def test_hooks_see_the_tool_that_runs_behind_another_name(stage: Stage) -> None:
    """Other middleware may put another tool behind a call; the name of that one is judged."""
    ran = Ran()
    wipe = next(one for one in make_tools(ran) if one.name == "wipe")

    def change(request: Any) -> Any:
        call_ = {**request.tool_call, "args": {"path": "/"}}
        return request.override(tool=wipe, tool_call=call_)

    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    await make(stage, use(call("note", text="a")), ran, Outer(change)).ainvoke(SAY)
    assert ran.calls == []
    assert "never" in ran.requests[-1]


def test_a_yes_after_the_time_limit_runs_nothing(stage: Stage) -> None:
    """LangGraph raises, but waits for the thread of the call: the tool must not run then."""
    outer, ran = Outer(), Ran()

    async def think(_: ApprovalQuestion) -> str:
        assert await asyncio.to_thread(outer.ended.wait, 60)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    stage.ask_person(think)
    agent = make(stage, WIPE, ran, outer)
    agent.step_timeout = 2
    with pytest.raises(TimeoutError):
        agent.invoke(SAY)
    assert ran.calls == []
    assert not [one for one in stage.of_type("tool_finished") if one["body"]["outcome"] != "raised"]
    assert [data["reason"] for _, data in stage.heard.events] == ["timeout"]


def test_a_yes_after_another_call_has_failed_runs_nothing(stage: Stage) -> None:
    """The run is over when one of its parallel calls raises."""
    outer, ran = Outer(), Ran()

    async def think(_: ApprovalQuestion) -> str:
        assert await asyncio.to_thread(outer.ended.wait, 60)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    stage.ask_person(think)
    script = use(call("wipe", 1, path="/tmp/x"), call("boom", 2, text="x"))
    with pytest.raises(RuntimeError, match="boom x"):
        make(stage, script, ran, outer).invoke(SAY)
    assert ran.ran("wipe") == []
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


def test_a_call_that_comes_late_runs_nothing(stage: Stage) -> None:
    """A thread may begin when another call has ended the run: it belongs to no new one."""
    ran = Ran()

    def wait(request: Any) -> Any:
        if request.tool_call["name"] == "wipe":
            assert outer.ended.wait(60)
        return request

    outer = Outer(wait)
    stage.listen("session:start", "session:end", "tool:pre")
    script = use(call("wipe", 1, path="/tmp/x"), call("boom", 2, text="x"))
    with pytest.raises(RuntimeError, match="boom x"):
        make(stage, script, ran, outer).invoke(SAY)
    assert ran.ran("wipe") == []
    assert stage.heard.names == ["session:start", "tool:pre", "session:end"]


async def test_an_agent_that_blocks_its_loop_is_governed(stage: Stage) -> None:
    """As in a notebook: the synchronous entry point inside a running loop."""
    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    ran = Ran()
    make(stage, WIPE, ran).invoke(SAY)
    assert ran.calls == []
    assert "never" in ran.requests[-1]


def test_batches_are_governed(stage: Stage) -> None:
    """Each input is a run with a session of its own."""
    stage.listen("prompt:submit", "session:end")
    ran = Ran()
    agent = make(stage, [DONE, DONE], ran)
    agent.batch([{"messages": "One."}, {"messages": "Two."}])
    prompts = [data["prompt"] for name, data in stage.heard.events if name == "prompt:submit"]
    assert sorted(prompts) == ["One.", "Two."]
    assert stage.heard.names.count("session:end") == 2


async def test_a_reader_who_leaves_a_stream_ends_the_session(stage: Stage) -> None:
    """Nobody waits for the rest."""
    stage.listen("session:end")
    stream = make(stage, use(call("note", text="a")), Ran()).astream(SAY, stream_mode="updates")
    async for _ in stream:
        break
    await stream.aclose()
    assert [data["reason"] for _, data in stage.heard.events] == ["user_exit"]


async def test_who_streams_has_read_the_answer(stage: Stage) -> None:
    """Hooks are told so; who waits for the whole has not."""
    stage.listen("prompt:answer")
    async for _ in make(stage, [DONE], Ran()).astream(SAY, stream_mode="messages"):
        pass
    await make(stage, [DONE], Ran()).ainvoke(SAY)
    assert [data["streamed"] for _, data in stage.heard.events] == [True, False]


async def test_a_stream_of_events_is_governed(stage: Stage) -> None:
    """The third way to read a run while it goes on."""
    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    stage.listen("session:start", "prompt:answer", "session:end")
    ran = Ran()
    async for _ in make(stage, WIPE, ran).astream_events(SAY, version="v2"):
        pass
    assert ran.calls == []
    assert stage.heard.names == ["session:start", "prompt:answer", "session:end"]


async def test_a_run_without_an_end_in_sight_ends_in_an_error(stage: Stage) -> None:
    """LangGraph stops an agent after so many steps, and the session with it."""
    stage.listen("session:end")
    script: list[Step] = [[call("note", number, text="a")] for number in range(9)]
    with pytest.raises(RecursionError):
        await make(stage, script, Ran()).ainvoke(SAY, {"recursion_limit": 5})
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


class FailingModel(ScriptedModel):
    """A model that cannot be reached."""

    def _generate(self, *args: Any, **kwargs: Any) -> Any:
        raise ConnectionError("no route to the model")


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_model_that_fails_is_told(stage: Stage, is_async: bool) -> None:
    """Hooks hear of it, and the caller gets the model's own exception."""
    stage.listen("provider:error", "session:end")
    model = FailingModel(messages=iter(()), requests=[])
    agent = create_agent(model, [], middleware=[AmplifierMiddleware(stage.hooks)])
    with pytest.raises(ConnectionError, match="no route"):
        await (agent.ainvoke(SAY) if is_async else asyncio.to_thread(agent.invoke, SAY))
    assert stage.heard.names == ["provider:error", "session:end"]
    failed, ended = (data for _, data in stage.heard.events)
    assert failed["error"]["type"] == "ConnectionError"
    assert "no route" in failed["error"]["message"]
    assert ended["reason"] == "error"


async def test_an_adapter_that_fails_runs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever goes wrong on the way to the hooks, no tool runs unjudged."""

    def fail(self: object) -> None:
        raise OSError("broken")

    ran = Ran()
    agent = make(stage, WIPE, ran)
    monkeypatch.setattr("amplifier_hooks.external.session.ExternalSession.use", fail)
    with pytest.raises(OSError, match="broken"):
        await agent.ainvoke(SAY)
    assert ran.calls == []


async def test_a_refused_prompt_is_not_sent_with_the_next_one(stage: Stage) -> None:
    """The thread goes on without it."""

    def judge(data: dict[str, Any]) -> HookResult:
        if "4711" in data["prompt"]:
            return HookResult(action="deny", reason="no numbers")
        return HookResult()

    stage.answer("prompt:submit", judge)
    ran = Ran()
    agent = make(stage, [DONE], ran, checkpointer=InMemorySaver())
    first = await agent.ainvoke({"messages": "My PIN is 4711."}, THREAD)
    assert "no numbers" in first["messages"][-1].content
    await agent.ainvoke({"messages": "And now?"}, THREAD)
    assert len(ran.requests) == 1
    assert "And now?" in ran.requests[0]
    assert "4711" not in ran.requests[0]


@pytest.mark.parametrize("is_async", [True, False])
async def test_an_injection_for_good_is_in_the_next_turn(stage: Stage, is_async: bool) -> None:
    """It stays where it was in the conversation, once."""
    said = iter([HookResult(action="inject_context", context_injection="Lint: line 3")])
    stage.answer("tool:post", lambda data: next(said, HookResult()))
    ran = Ran()
    script = [*use(call("note", text="a")), DONE]
    agent = make(stage, script, ran, checkpointer=InMemorySaver())
    for prompt in ("One.", "Two."):
        if is_async:
            await agent.ainvoke({"messages": prompt}, THREAD)
        else:
            await asyncio.to_thread(agent.invoke, {"messages": prompt}, THREAD)
    assert [request.count("Lint: line 3") for request in ran.requests] == [0, 1, 1]
    last = ran.requests[-1]
    assert last.index("noted a") < last.index("Lint: line 3") < last.index(DONE)


async def test_an_injection_in_a_conversation_is_not_repeated(stage: Stage) -> None:
    """There the session goes on and has it; it must not come twice."""
    said = iter([HookResult(action="inject_context", context_injection="Lint: line 3")])
    stage.answer("tool:post", lambda data: next(said, HookResult()))
    ran, hooks = Ran(), stage.hooks
    script = [*use(call("note", text="a")), DONE]
    agent = create_agent(
        make_model(script, ran.requests),
        make_tools(ran),
        middleware=[AmplifierMiddleware(hooks)],
        checkpointer=InMemorySaver(),
    )
    async with hooks.conversation():
        await agent.ainvoke({"messages": "One."}, THREAD)
        await agent.ainvoke({"messages": "Two."}, THREAD)
    assert [request.count("Lint: line 3") for request in ran.requests] == [0, 1, 1]


async def test_one_middleware_serves_many_agents(stage: Stage) -> None:
    """It has no state of any one of them."""
    stage.listen("session:start")
    middleware = AmplifierMiddleware(stage.hooks)
    agents = [
        create_agent(make_model([DONE], []), make_tools(Ran()), middleware=[middleware])
        for _ in range(2)
    ]
    await asyncio.gather(*(agent.ainvoke(SAY) for agent in agents))
    assert stage.heard.names == ["session:start", "session:start"]


async def test_a_second_middleware_is_refused(stage: Stage) -> None:
    """LangChain takes one of a kind: hooks are never asked twice about one call."""
    twice = [AmplifierMiddleware(stage.hooks), AmplifierMiddleware(stage.hooks)]
    with pytest.raises(AssertionError, match="duplicate"):
        create_agent(make_model([DONE], []), [], middleware=twice)


async def test_a_call_outside_an_agent_is_refused(stage: Stage) -> None:
    """Nobody could say which run it belongs to."""
    middleware = AmplifierMiddleware(stage.hooks)
    unused: Any = None
    with pytest.raises(RuntimeError, match="outside a run of an agent"):
        await middleware.awrap_tool_call(unused, unused)
