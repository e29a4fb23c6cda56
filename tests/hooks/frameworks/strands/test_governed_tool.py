"""Tool calls judged where the framework runs the tool."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import ToolContext, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.middleware import ExecuteToolStage
from strands.types.tools import AgentTool

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.strands import AmplifierHooks
from amplifier_hooks.frameworks.strands.tools import GovernedTool
from tests.adapters.drivers.driver import Call, Ran
from tests.adapters.drivers.strands import make_agent
from tests.adapters.stage import DONE, Stage, ask, call, change_input, change_output, use

DENY = HookResult(action="deny", reason="against the rules")
WIPE = use(call("wipe", path="/tmp/x"))
CHANGED = {"path": "/tmp/changed"}


async def test_a_person_sees_what_a_later_callback_made_of_the_call(stage: Stage) -> None:
    """However late another callback of the framework is."""

    def change(event: BeforeToolCallEvent) -> None:
        event.tool_use = {**event.tool_use, "input": CHANGED}

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    agent = make_agent(ran, WIPE, plugins=[AmplifierHooks(stage.hooks)])
    agent.hooks.add_callback(BeforeToolCallEvent, change, order=10**9)
    await agent.invoke_async("Do it.")
    assert [one.tool_input for one in stage.person.questions] == [CHANGED]
    assert ran.calls == [("wipe", CHANGED)]


async def test_a_person_sees_what_a_later_middleware_made_of_the_call(stage: Stage) -> None:
    """Also one that was added after ours."""

    async def change(context: Any, next_fn: Any) -> AsyncGenerator[Any, None]:
        use = {**context.tool_use, "input": CHANGED}
        async for event in next_fn(context.replace(tool_use=use)):
            yield event

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person("Allow")
    ran = Ran()
    agent = make_agent(ran, WIPE, plugins=[AmplifierHooks(stage.hooks)])
    agent.add_middleware(ExecuteToolStage, change)
    await agent.invoke_async("Do it.")
    assert [one.tool_input for one in stage.person.questions] == [CHANGED]
    assert ran.calls == [("wipe", CHANGED)]


async def test_others_see_the_tool_itself(stage: Stage) -> None:
    """Callbacks after the call get the tool and the result that they would have got without us."""
    seen: list[AfterToolCallEvent] = []
    made: dict[str, Any] = {"status": "success", "content": [{"json": {"rows": [1]}}]}

    @tool
    def find() -> dict[str, Any]:
        """Find rows."""
        return made

    stage.answer("tool:post", HookResult())
    agent = make_agent(
        Ran(), use(call("find")), tools=[find], plugins=[AmplifierHooks(stage.hooks)]
    )
    agent.hooks.add_callback(AfterToolCallEvent, seen.append)
    await agent.invoke_async("Do it.")
    assert seen[0].selected_tool is find
    assert seen[0].result["content"] is made["content"]


class Counting(AgentTool):
    """A tool that says how far it is, with values that no class of the framework holds."""

    @property
    def tool_name(self) -> str:
        return "count"

    @property
    def tool_spec(self) -> Any:
        schema = {"type": "object", "properties": {"to": {"type": "integer"}}}
        return {"name": "count", "description": "Counts.", "inputSchema": {"json": schema}}

    @property
    def tool_type(self) -> str:
        return "custom"

    async def stream(self, tool_use: Any, invocation_state: Any, **_: Any) -> Any:
        for number in range(tool_use["input"]["to"]):
            yield {"at": number}
        if tool_use["input"]["to"]:
            yield {
                "toolUseId": tool_use["toolUseId"],
                "status": "success",
                "content": [{"text": "counted"}],
            }


async def count(stage: Stage, ran: Ran, to: int) -> list[Any]:
    """What a streaming caller gets of a tool that counts."""
    agent = make_agent(
        ran, use(call("count", to=to)), tools=[Counting()], plugins=[AmplifierHooks(stage.hooks)]
    )
    return [
        event["tool_stream_event"]["data"]
        async for event in agent.stream_async("Do it.")
        if "tool_stream_event" in event
    ]


async def test_what_a_tool_streams_goes_out(stage: Stage) -> None:
    """As without hooks: every value, and the last one is the result."""
    stage.listen("tool:post")
    ran = Ran()
    found = await count(stage, ran, 2)
    assert found[:2] == [{"at": 0}, {"at": 1}]
    assert found[2]["content"] == [{"text": "counted"}]
    assert stage.heard.events[0][1]["tool_result"]["output"] == "counted"
    assert "counted" in ran.requests[-1]


async def test_a_result_that_is_withheld_does_not_stream(stage: Stage) -> None:
    """What is on its way goes out; the result does not."""
    stage.answer("tool:post", DENY)
    ran = Ran()
    found = await count(stage, ran, 2)
    assert found == [{"at": 0}, {"at": 1}]
    assert "counted" not in ran.requests[-1]
    assert "against the rules" in ran.requests[-1]


async def test_a_tool_that_says_nothing_has_failed(stage: Stage) -> None:
    """In the words of the framework."""
    stage.listen("tool:post")
    ran = Ran()
    await count(stage, ran, 0)
    assert stage.heard.events[0][1]["success"] is False
    assert "did not return a result" in ran.requests[-1]


async def test_a_tool_that_raises_is_told_once(stage: Stage) -> None:
    """Hooks hear of the exception, and the model reads what the framework says about it."""
    stage.listen("tool:error", "tool:post")
    ran = Ran()
    agent = make_agent(ran, use(call("boom", text="x")), plugins=[AmplifierHooks(stage.hooks)])
    seen: list[Any] = []
    agent.hooks.add_callback(AfterToolCallEvent, seen.append)
    await agent.invoke_async("Do it.")
    assert stage.heard.names == ["tool:error"]
    assert stage.heard.events[0][1]["error"]["type"] == "RuntimeError"
    assert isinstance(seen[0].exception, RuntimeError)
    assert "boom x" in ran.requests[-1]


async def test_a_tool_that_raises_by_itself_is_told(stage: Stage) -> None:
    """One that catches nothing."""

    class Broken(Counting):
        async def stream(self, tool_use: Any, invocation_state: Any, **_: Any) -> Any:
            raise OSError("no disk")
            yield

    stage.listen("tool:error")
    ran = Ran()
    agent = make_agent(
        ran, use(call("count", to=1)), tools=[Broken()], plugins=[AmplifierHooks(stage.hooks)]
    )
    await agent.invoke_async("Do it.")
    assert "no disk" in str(stage.heard.events[0][1]["error"])
    assert "no disk" in ran.requests[-1]


async def test_objects_that_json_cannot_hold_reach_the_tool(stage: Stage) -> None:
    """A program may call a tool with anything; hooks see a description, and may change the rest."""
    found: list[Any] = []

    @tool
    def keep(thing: Any, text: str) -> str:
        """Keep a thing."""
        found.append((thing, text))
        return "kept"

    stage.answer("tool:pre", change_input(text="b"))
    agent = make_agent(Ran(), [], tools=[keep], plugins=[AmplifierHooks(stage.hooks)])
    thing = object()
    agent.tool.keep(thing=thing, text="a", record_direct_tool_call=False)
    assert found == [(thing, "b")]


@pytest.mark.parametrize("changes", [False, True])
async def test_an_input_that_is_no_object_reaches_the_tool_as_it_is(
    stage: Stage, changes: bool
) -> None:
    """Unless hooks make one of it."""
    found: list[Any] = []

    class Keeping(Counting):
        async def stream(self, tool_use: Any, invocation_state: Any, **_: Any) -> Any:
            found.append(tool_use["input"])
            yield {"toolUseId": tool_use["toolUseId"], "status": "success", "content": []}

    if changes:
        stage.answer("tool:pre", change_input(input="b"))
    stage.listen("tool:pre", "provider:response")
    script: list[Any] = [[Call("count", "a", "call_1")], DONE]  # type: ignore[arg-type]
    plugins = [AmplifierHooks(stage.hooks)]
    await make_agent(Ran(), script, tools=[Keeping()], plugins=plugins).invoke_async("Do it.")
    assert found == [{"input": "b"} if changes else "a"]


async def answer_interrupts(agent: Any, result: Any, choose: Any) -> Any:
    """Resume until the agent is done."""
    while result.stop_reason == "interrupt":
        given: Any = [
            {"interruptResponse": {"interruptId": one.id, "response": choose(one)}}
            for one in result.interrupts
        ]
        result = await agent.invoke_async(given)
    return result


@pytest.mark.parametrize("second", ["Allow", "Deny"])
async def test_each_question_needs_its_own_answer(stage: Stage, second: str) -> None:
    """A yes to the first question is none to the second."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    shown: list[str] = []

    def choose(interrupt: Any) -> Any:
        shown.append(interrupt.reason["prompt"])
        return answer(interrupt.reason, "Allow" if len(shown) == 1 else second)

    ran = Ran()
    agent = make_agent(ran, WIPE, plugins=[AmplifierHooks(stage.hooks, asks="interrupt")])
    await answer_interrupts(agent, await agent.invoke_async("Do it."), choose)
    assert shown == ["First?", "Second?"]
    assert len(ran.calls) == (1 if second == "Allow" else 0)


async def test_a_question_of_a_sub_agent_comes_to_the_caller(stage: Stage) -> None:
    """The framework carries an interrupt out of an agent that is a tool, and the answer back."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("tool:error")
    ran = Ran()
    inner = make_agent(ran, WIPE, name="helper", description="Helps.")
    agent = make_agent(
        Ran(),
        use(call("helper", input="Help.")),
        tools=[inner],
        plugins=[AmplifierHooks(stage.hooks, asks="interrupt")],
    )
    result = await agent.invoke_async("Do it.")
    assert result.stop_reason == "interrupt"
    assert ran.calls == []
    await answer_interrupts(agent, result, lambda one: answer(one.reason, "Allow"))
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert stage.heard.names == []


async def test_an_interrupt_of_the_tool_itself_passes(stage: Stage) -> None:
    """It is the framework's own, and no tool has failed."""

    @tool(context=True)
    def ship(tool_context: ToolContext) -> str:
        """Ship it."""
        return f"shipped {tool_context.interrupt('where', reason='Where to?')}"

    stage.listen("tool:error", "tool:post")
    ran = Ran()
    agent = make_agent(ran, use(call("ship")), tools=[ship], plugins=[AmplifierHooks(stage.hooks)])
    result = await agent.invoke_async("Do it.")
    assert [one.reason for one in result.interrupts] == ["Where to?"]
    assert stage.heard.names == []
    await answer_interrupts(agent, result, lambda one: "home")
    assert "shipped home" in ran.requests[-1]
    assert stage.heard.names == ["tool:post"]


async def test_a_mistake_of_ours_runs_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The call becomes an error that the model reads."""

    def fail(*_: Any) -> None:
        raise OSError("a mistake")

    monkeypatch.setattr("amplifier_hooks.frameworks.strands.tools.read_arguments", fail)
    ran = Ran()
    agent = make_agent(ran, WIPE, plugins=[AmplifierHooks(stage.hooks)])
    await agent.invoke_async("Do it.")
    assert ran.calls == []
    assert "a mistake" in ran.requests[-1]


async def test_a_changed_result_is_a_result_of_the_framework(stage: Stage) -> None:
    """With the id of the call, also for the callbacks of others."""
    seen: list[Any] = []
    stage.answer("tool:post", change_output("wiped [removed]"))
    agent = make_agent(Ran(), WIPE, plugins=[AmplifierHooks(stage.hooks)])
    agent.hooks.add_callback(AfterToolCallEvent, lambda event: seen.append(event.result))
    await agent.invoke_async("Do it.")
    assert seen == [
        {"toolUseId": "call_1", "status": "success", "content": [{"text": "wiped [removed]"}]}
    ]


def test_a_governed_tool_can_be_asked_like_the_tool() -> None:
    """A middleware may want to know what it has before it."""
    inner: Any = Counting()
    inner.color = "blue"
    made: Any = GovernedTool(inner, None, None, interrupts=False)  # type: ignore[arg-type]
    assert (made.tool_name, made.tool_type, made.color) == ("count", "custom", "blue")
    assert made.tool_spec == inner.tool_spec
