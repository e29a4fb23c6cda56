"""Tools that call through the hooks, and their stage."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("strands")

from strands import ToolContext, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent
from strands.middleware import ExecuteToolStage
from strands.types.tools import AgentTool

from amplifier_core import HookResult
from amplifier_hooks.coverage import STRANDS
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.strands import AmplifierHooks
from amplifier_hooks.frameworks.strands.tools import GovernedTool, Turns, find_reason
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


@pytest.mark.parametrize(
    ("given", "runs"),
    [
        ("y", True),
        (" Y ", True),
        ("yes", True),
        ("Allow", True),
        ("approve", True),
        (True, True),
        (False, False),
        ("n", False),
        ("Deny", False),
        ("", False),
        ("maybe", False),
        ({"approved": True}, False),
        (1, False),
    ],
)
async def test_plain_answers(stage: Stage, given: Any, runs: bool) -> None:
    """As the framework's own examples and its HumanInTheLoop have them; others are a no."""
    stage.answer("tool:pre", ask(), tool="wipe")
    agent = make_agent(ran := Ran(), WIPE, plugins=[AmplifierHooks(stage.hooks, asks="interrupt")])
    result = await agent.invoke_async("Do it.")
    await answer_interrupts(agent, result, lambda one: given)
    assert len(ran.calls) == int(runs)


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


def test_a_call_by_the_program_itself_is_judged(stage: Stage) -> None:
    """`agent.tool.name()` is a run of one call."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:start", "tool:post", "session:end")
    ran = Ran()
    agent = make_agent(ran, [], plugins=[AmplifierHooks(stage.hooks)])
    refused = agent.tool.wipe(path="/tmp/x")
    assert refused["status"] == "error"
    assert "against the rules" in str(refused["content"])
    assert agent.tool.note(text="a")["status"] == "success"
    assert ran.calls == [("note", {"text": "a"})]
    assert stage.heard.names == [
        "session:start",
        "session:end",
        "session:start",
        "tool:post",
        "session:end",
    ]


def test_a_call_whose_start_is_refused_runs_nothing(stage: Stage) -> None:
    """The result is the reason."""
    stage.answer("session:start", DENY)
    ran = Ran()
    agent = make_agent(ran, [], plugins=[AmplifierHooks(stage.hooks)])
    assert "against the rules" in str(agent.tool.wipe(path="/tmp/x"))
    assert ran.calls == []


async def test_a_tool_that_nobody_has_is_told(stage: Stage) -> None:
    """Hooks hear of a call that the model made up."""
    stage.listen("tool:pre", "tool:error")
    ran = Ran()
    agent = make_agent(ran, use(call("rocket", to="x")), plugins=[AmplifierHooks(stage.hooks)])
    await agent.invoke_async("Do it.")
    assert stage.heard.names == ["tool:error"]
    assert "rocket" in stage.heard.events[0][1]["error"]["message"]
    assert "Unknown tool: rocket" in ran.requests[-1]


class Counted:
    """A tool that waits in the background until the invocation is over."""

    def __init__(self) -> None:
        self.released, self.done = threading.Event(), threading.Event()

    def make(self) -> Any:
        """The tool."""

        @tool
        async def work() -> str:
            """Work for a while."""
            while not self.released.is_set():
                await asyncio.sleep(0.01)
            self.done.set()
            return "worked"

        return work


def run_in_background(stage: Stage, work: Counted) -> Ran:
    """An agent that starts the work in the background and answers."""
    ran = Ran()
    agent = make_agent(
        ran,
        use(call("work", _background_execution=True)),
        tools=[work.make()],
        background_tasks={"wait_for_completion": False},
        plugins=[AmplifierHooks(stage.hooks)],
    )
    agent("Do it.")
    return ran


def test_a_call_in_the_background_outlives_its_invocation(stage: Stage) -> None:
    """It is a run of its own: nothing of the invocation is needed for it to end."""
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()

    async def hear(event: str, data: dict[str, Any]) -> HookResult:
        heard.put(event)
        return HookResult()

    for event in ("session:start", "tool:pre", "tool:post", "session:end"):
        stage.registry.register(event, hear, name="ears")
    work = Counted()
    run_in_background(stage, work)
    work.released.set()
    found = [heard.get(timeout=60) for _ in range(6)]
    assert work.done.is_set()
    assert found.count("session:start") == found.count("session:end") == 2
    assert found.index("tool:pre") < found.index("tool:post")


def test_a_call_in_the_background_is_denied(stage: Stage) -> None:
    """Before anything of it runs."""
    denied = threading.Event()

    async def deny(event: str, data: dict[str, Any]) -> HookResult:
        denied.set()
        return DENY

    stage.registry.register("tool:pre", deny, name="policy")
    work = Counted()
    work.released.set()
    run_in_background(stage, work)
    assert denied.wait(60)
    assert not work.done.is_set()


class SomeAgent:
    """Stands for an agent."""


class Result:
    """Stands for a result."""

    def __init__(self, stop_reason: str) -> None:
        self.stop_reason = stop_reason


async def test_a_run_is_found_by_agent_and_state(stage: Stage) -> None:
    """Agents of a graph share one state, and one agent may have several invocations."""
    turns, hooks = Turns(), stage.hooks
    agent, other = SomeAgent(), SomeAgent()
    state: dict[str, Any] = {}
    mine, theirs = await hooks.open(STRANDS), await hooks.open(STRANDS)
    turns.add(agent, state, mine)
    turns.add(other, state, theirs)
    assert turns.find(agent, state) is mine
    assert turns.find(other, state) is theirs


async def test_a_replaced_state_leads_to_the_only_run(stage: Stage) -> None:
    """With two under way, nobody can say which."""
    turns, hooks, agent = Turns(), stage.hooks, SomeAgent()
    first = await hooks.open(STRANDS)
    turns.add(agent, {}, first)
    assert turns.find(agent, {"replaced": True}) is first
    turns.add(agent, {}, await hooks.open(STRANDS))
    assert turns.find(agent, {"replaced": True}) is None


async def test_a_run_that_is_over_is_not_found(stage: Stage) -> None:
    """And is taken once."""
    turns, agent, state = Turns(), SomeAgent(), {"a": 1}
    run = await stage.hooks.open(STRANDS)
    turns.add(agent, state, run)
    assert turns.take(agent, state) is run
    assert turns.take(agent, state) is None
    assert turns.find(agent, state) is None
    turns.add(agent, state, run)
    await run.end()
    assert turns.find(agent, state) is None


async def test_an_invocation_without_state_ends_the_only_one(stage: Stage) -> None:
    """The framework begins and ends some with another state each; a refused one ends itself."""
    turns, agent, refused = Turns(), SomeAgent(), dict[str, Any]()
    run = await stage.hooks.open(STRANDS)
    turns.add(agent, {}, run)
    turns.add(agent, refused, None)
    assert turns.find(agent, refused) is run
    assert turns.take(agent, refused) is None
    assert turns.take(agent, {"other": 1}) is None
    assert turns.take(agent, {}) is run


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (asyncio.CancelledError(), "user_exit"),
        (GeneratorExit(), "user_exit"),
        (TimeoutError(), "timeout"),
        (ValueError(), "error"),
    ],
)
def test_an_exception_says_why_it_is_over(error: BaseException, reason: str) -> None:
    """While it passes."""
    found: list[str] = []

    def fail() -> None:
        try:
            raise error
        finally:
            found.append(find_reason(None))

    with pytest.raises(type(error)):
        fail()
    assert found == [reason]


def test_a_result_says_why_it_is_over() -> None:
    """An agent that was stopped has one, too."""
    assert find_reason(Result("end_turn")) == "complete"  # type: ignore[arg-type]
    assert find_reason(Result("cancelled")) == "user_exit"  # type: ignore[arg-type]
    assert find_reason(None) == "complete"
