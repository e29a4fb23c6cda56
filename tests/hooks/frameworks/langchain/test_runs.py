"""A run behind an agent, and the graphs around it."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import weakref
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents import create_agent
from langchain.agents.middleware.human_in_the_loop import HITLRequest
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.types import Command, interrupt

from amplifier_core import HookResult
from amplifier_hooks.frameworks import Governor, answer
from amplifier_hooks.frameworks.langchain import AmplifierMiddleware, runs
from amplifier_hooks.frameworks.langchain.runs import (
    OVER,
    Governed,
    GraphRun,
    _warn_once,
    read_graph_run,
    read_reason,
)
from tests.adapters.drivers.driver import Ran, Step
from tests.adapters.drivers.langchain import make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, use
from tests.support.waiting import wait_until

THREAD: Any = {"configurable": {"thread_id": "1"}}
SAY: Any = {"messages": "Do it."}
BOTH = use(call("note", 1, text="a"), call("wipe", 2, path="/tmp/x"))


def make(hooks: Governor, script: list[Step], ran: Ran, saver: Any, **options: Any) -> Any:
    """An agent whose questions are interrupts."""
    return create_agent(
        make_model(script, ran.requests),
        make_tools(ran),
        middleware=[AmplifierMiddleware(hooks, asks="interrupt")],
        checkpointer=saver,
        **options,
    )


def allow(state: Any, by: str = "ana") -> Command[Any]:
    """A yes to everything that is asked."""
    found = state["__interrupt__"]
    return Command(resume={one.id: answer(one.value, "Allow", by=by) for one in found})


async def test_an_interrupted_run_goes_on_in_its_session(stage: Stage) -> None:
    """One start, one prompt, one end, and a call that was not asked about runs once."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:start", "prompt:submit", "session:end")
    ran = Ran()
    agent = make(stage.hooks, BOTH, ran, InMemorySaver())
    state = await agent.ainvoke(SAY, THREAD)
    assert stage.heard.names == ["session:start", "prompt:submit"]
    assert ran.calls == [("note", {"text": "a"})]
    state = await agent.ainvoke(allow(state), THREAD)
    assert state["messages"][-1].content == DONE
    assert stage.heard.names == ["session:start", "prompt:submit", "session:end"]
    assert sorted(name for name, _ in ran.calls) == ["note", "wipe"]


def test_an_interrupted_run_goes_on_in_a_thread(stage: Stage) -> None:
    """The same for the synchronous entry point."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:start", "session:end")
    ran = Ran()
    agent = make(stage.hooks, BOTH, ran, InMemorySaver())
    agent.invoke(allow(agent.invoke(SAY, THREAD)), THREAD)
    assert stage.heard.names == ["session:start", "session:end"]
    assert ran.ran("wipe") == [{"path": "/tmp/x"}]


def test_a_run_may_be_resumed_on_another_loop(stage: Stage) -> None:
    """As a server does whose loop was restarted, or a script with two calls of asyncio.run."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    ran = Ran()
    agent = make(stage.hooks, BOTH, ran, InMemorySaver())
    state = asyncio.run(agent.ainvoke(SAY, THREAD))
    state = asyncio.run(agent.ainvoke(allow(state), THREAD))
    assert state["messages"][-1].content == DONE
    assert ran.ran("wipe") == [{"path": "/tmp/x"}]
    assert stage.heard.names == ["session:end"]


def test_a_run_may_be_resumed_in_the_other_way(stage: Stage) -> None:
    """Begun asynchronously, answered synchronously."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    ran = Ran()
    agent = make(stage.hooks, BOTH, ran, InMemorySaver())
    state = asyncio.run(agent.ainvoke(SAY, THREAD))
    agent.invoke(allow(state), THREAD)
    assert ran.ran("wipe") == [{"path": "/tmp/x"}]
    assert stage.heard.names == ["session:end"]


async def test_another_process_resumes_in_a_session_of_its_own(stage: Stage) -> None:
    """What it does is governed and recorded; the prompt is not submitted twice."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:start", "prompt:submit", "session:end")
    ran, saver = Ran(), InMemorySaver()
    state = await make(stage.hooks, BOTH, ran, saver).ainvoke(SAY, THREAD)
    there = make(stage.hooks, [DONE], ran, saver)
    state = await there.ainvoke(allow(state), THREAD)
    assert state["messages"][-1].content == DONE
    wanted = ["session:start", "prompt:submit", "session:start", "session:end"]
    assert stage.heard.names == wanted


async def test_a_session_that_is_refused_at_the_resumption_runs_nothing(stage: Stage) -> None:
    """The start of the second session is judged as well; the caller reads why it was refused."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran, saver = Ran(), InMemorySaver()
    state = await make(stage.hooks, BOTH, ran, saver).ainvoke(SAY, THREAD)
    stage.answer("session:start", HookResult(action="deny", reason="not today"), name="clock")
    there = make(stage.hooks, [DONE], ran, saver)
    state = await there.ainvoke(allow(state), THREAD)
    assert ran.ran("wipe") == []
    assert "not today" in state["messages"][-1].content


async def test_two_questions_wait_at_the_same_time(stage: Stage) -> None:
    """Each has an interrupt of its own, and each answer reaches its call."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    script = use(call("wipe", 1, path="/tmp/x"), call("wipe", 2, path="/tmp/y"))
    agent = make(stage.hooks, script, ran, InMemorySaver())
    state = await agent.ainvoke(SAY, THREAD)
    choices = {"/tmp/x": "Deny", "/tmp/y": "Allow"}
    resume = {
        one.id: answer(one.value, choices[one.value["tool_input"]["path"]])
        for one in state["__interrupt__"]
    }
    assert len(resume) == 2
    await agent.ainvoke(Command(resume=resume), THREAD)
    assert ran.calls == [("wipe", {"path": "/tmp/y"})]


async def test_two_gates_ask_one_after_the_other(stage: Stage) -> None:
    """The second question comes after the first was answered."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    ran, asked = Ran(), []
    agent = make(stage.hooks, use(call("wipe", path="/tmp/x")), ran, InMemorySaver())
    state = await agent.ainvoke(SAY, THREAD)
    while "__interrupt__" in state:
        asked += [one.value["prompt"] for one in state["__interrupt__"]]
        assert ran.calls == []
        state = await agent.ainvoke(allow(state), THREAD)
    assert asked == ["First?", "Second?"]
    assert len(ran.calls) == 1


def decide(kind: str, **more: Any) -> dict[str, Any]:
    """What a page sends back that was written for LangChain's own human-in-the-loop."""
    return {"decisions": [{"type": kind, **more}]}


async def test_a_question_has_the_form_of_langchains_own(stage: Stage) -> None:
    """Such a page finds the call, its arguments and what it may send back."""
    stage.answer("tool:pre", ask("Wipe it?"), tool="wipe")
    agent = make(stage.hooks, use(call("wipe", path="/tmp/x")), Ran(), InMemorySaver())
    (question,) = (await agent.ainvoke(SAY, THREAD))["__interrupt__"]
    request: HITLRequest = question.value
    (action,), (review,) = request["action_requests"], request["review_configs"]
    assert action == {"name": "wipe", "args": {"path": "/tmp/x"}, "description": "Wipe it?"}
    assert review["action_name"] == "wipe"
    assert set(review["allowed_decisions"]) == {"approve", "edit", "reject"}


EDIT = decide("edit", edited_action={"name": "wipe", "args": {"path": "/tmp/z"}})


@pytest.mark.parametrize(
    ("given", "ran_with"),
    [
        ({"type": "approve"}, "/tmp/x"),
        (True, "/tmp/x"),
        ("Allow", "/tmp/x"),
        (EDIT, "/tmp/z"),
        (decide("edit", edited_action={"name": "boom", "args": {"text": "a"}}), None),
        (decide("edit", edited_action={"name": "wipe", "args": "/tmp/z"}), None),
        (decide("respond", message="I did it."), None),
        ({"decisions": [{"type": "approve"}] * 2}, None),
        ({"decisions": "approve"}, None),
        (decide("approve"), "/tmp/x"),
        ({"type": "reject", "message": "use the trash"}, None),
        (False, None),
        ("later", None),
        (7, None),
    ],
)
async def test_decisions_of_that_form(stage: Stage, given: Any, ran_with: str | None) -> None:
    """Each means what it means there; what is none runs nothing."""
    stage.answer("tool:pre", lambda data: ask(f"Wipe {data['tool_input']['path']}?"), tool="wipe")
    ran = Ran()
    agent = make(stage.hooks, use(call("wipe", path="/tmp/x")), ran, InMemorySaver())
    state = await agent.ainvoke(SAY, THREAD)
    (question,) = state["__interrupt__"]
    state = await agent.ainvoke(Command(resume={question.id: given}), THREAD)
    assert "__interrupt__" not in state
    assert ran.calls == ([] if ran_with is None else [("wipe", {"path": ran_with})])


async def test_what_was_said_with_a_no_reaches_the_model(stage: Stage) -> None:
    """It is the reason of the denial."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    agent = make(stage.hooks, use(call("wipe", path="/tmp/x")), ran, InMemorySaver())
    await agent.ainvoke(SAY, THREAD)
    await agent.ainvoke(Command(resume=decide("reject", message="use the trash")), THREAD)
    assert "use the trash" in ran.requests[-1]


async def test_decisions_of_that_form_open_two_gates_in_another_process(stage: Stage) -> None:
    """Each counts for the question that it answered, which the checkpoint has."""
    stage.answer("tool:pre", ask("First?"), tool="wipe", name="first")
    stage.answer("tool:pre", ask("Second?"), tool="wipe", name="second")
    ran, saver, asked = Ran(), InMemorySaver(), []
    script: list[Step] = use(call("wipe", path="/tmp/x"))
    state = await make(stage.hooks, script, ran, saver).ainvoke(SAY, THREAD)
    while "__interrupt__" in state:
        asked += [one.value["prompt"] for one in state["__interrupt__"]]
        there = make(stage.hooks, [DONE], ran, saver)
        state = await there.ainvoke(Command(resume=decide("approve")), THREAD)
    assert asked == ["First?", "Second?"]
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]


async def test_an_edit_is_asked_about_where_hooks_change_it_again(stage: Stage) -> None:
    """What runs is what a person has seen."""
    kept = {"/tmp/x": "/tmp/x"}

    def change(data: dict[str, Any]) -> HookResult:
        path = kept.get(data["tool_input"]["path"], "/etc")
        changed = {**data, "tool_input": {"path": path}}
        return HookResult(action="modify", data=changed)

    stage.answer("tool:pre", change, tool="wipe", name="changer", priority=-5)
    stage.answer("tool:pre", lambda data: ask(f"Wipe {data['tool_input']['path']}?"), tool="wipe")
    ran = Ran()
    agent = make(stage.hooks, use(call("wipe", path="/tmp/x")), ran, InMemorySaver())
    await agent.ainvoke(SAY, THREAD)
    state = await agent.ainvoke(Command(resume=EDIT), THREAD)
    assert [one.value["prompt"] for one in state["__interrupt__"]] == ["Wipe /etc?"]
    assert ran.calls == []


async def test_an_interrupt_needs_a_checkpointer(stage: Stage) -> None:
    """Without one nobody could answer: the run fails and says what is missing."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    with pytest.raises(RuntimeError, match="needs a checkpointer"):
        await make(stage.hooks, BOTH, ran, None).ainvoke(SAY)
    assert ran.ran("wipe") == []


async def test_an_interrupt_of_a_tool_itself_passes(stage: Stage) -> None:
    """It steers LangGraph: no tool has failed, and the resumed call returns its result."""

    @tool
    def pick(what: str) -> str:
        """Pick something."""
        return f"picked {interrupt(what)}"

    stage.listen("tool:error", "tool:post", "session:end")
    requests: list[str] = []
    agent = create_agent(
        make_model(use(call("pick", what="colour")), requests),
        [pick],
        middleware=[AmplifierMiddleware(stage.hooks)],
        checkpointer=InMemorySaver(),
    )
    state = await agent.ainvoke(SAY, THREAD)
    assert state["__interrupt__"][0].value == "colour"
    assert stage.heard.names == []
    await agent.ainvoke(Command(resume="red"), THREAD)
    assert stage.heard.names == ["tool:post", "session:end"]
    assert "picked red" in requests[-1]


async def test_a_run_that_stops_between_two_steps_goes_on_in_its_session(stage: Stage) -> None:
    """LangGraph can be told to stop before a node, without any question of ours."""
    stage.listen("session:start", "session:end")
    ran = Ran()
    script = use(call("note", text="a"))
    agent = make(stage.hooks, script, ran, InMemorySaver(), interrupt_before=["tools"])
    await agent.ainvoke(SAY, THREAD)
    assert ran.calls == []
    await agent.ainvoke(None, THREAD)
    assert stage.heard.names == ["session:start", "session:end"]
    assert len(ran.calls) == 1


async def test_a_thread_of_another_agent_is_another_run(stage: Stage) -> None:
    """Two agents with one middleware may both call their thread "1"."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:start", "session:end")
    middleware = AmplifierMiddleware(stage.hooks, asks="interrupt")
    first, second = Ran(), Ran()
    agents = [
        create_agent(
            make_model(BOTH, ran.requests),
            make_tools(ran),
            middleware=[middleware],
            checkpointer=InMemorySaver(),
        )
        for ran in (first, second)
    ]
    states = [await agent.ainvoke(SAY, THREAD) for agent in agents]
    for agent, state in zip(agents, states, strict=True):
        await agent.ainvoke(allow(state), THREAD)
    assert stage.heard.names == ["session:start"] * 2 + ["session:end"] * 2
    sessions = [one["session"] for one in stage.of_type("tool_started") if one["body"]["gated"]]
    assert len(set(sessions)) == 2


async def test_runs_that_are_over_are_forgotten(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server that runs for months keeps none of them."""
    made: list[weakref.ref[Governed]] = []
    begin = Governed.begin

    async def note(self: Governed, prompt: str) -> Any:
        made.append(weakref.ref(self))
        return await begin(self, prompt)

    monkeypatch.setattr(Governed, "begin", note)
    middleware = AmplifierMiddleware(stage.hooks)
    scripts: list[list[Step]] = [[DONE], use(call("boom", text="x"))]
    for script in scripts:
        agent = create_agent(make_model(script, []), make_tools(Ran()), middleware=[middleware])
        with contextlib.suppress(RuntimeError):
            await agent.ainvoke(SAY)
    assert len(made) == 2

    def are_gone() -> bool:
        gc.collect()
        return all(one() is None for one in made)

    await wait_until(are_gone)  # threads of LangChain may hold on to one for a moment


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_run_that_nobody_resumes_is_ended(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    """When the next one begins and nobody has answered for long."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("session:end")
    agent = make(stage.hooks, [*BOTH[:1], DONE], Ran(), InMemorySaver())
    await agent.ainvoke(SAY, THREAD)
    monkeypatch.setattr("amplifier_hooks.frameworks.langchain.runs.IDLE_SECONDS", -1.0)
    other: Any = {"configurable": {"thread_id": "2"}}
    await (agent.ainvoke(SAY, other) if is_async else asyncio.to_thread(agent.invoke, SAY, other))
    assert [data["reason"] for _, data in stage.heard.events] == ["timeout", "complete"]


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_langgraph_that_hides_its_executor_is_governed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    """A run is still found and ended with its answer; a warning says what does not work."""
    monkeypatch.setattr(runs, "_find_executor", lambda config: None)
    _warn_once.cache_clear()
    stage.answer("tool:pre", HookResult(action="deny", reason="never"), tool="wipe")
    stage.listen("session:start", "prompt:answer", "session:end")
    ran = Ran()
    agent = create_agent(
        make_model(BOTH, ran.requests),
        make_tools(ran),
        middleware=[AmplifierMiddleware(stage.hooks)],
    )
    with pytest.warns(RuntimeWarning, match="does not show when a run ends"):
        await (agent.ainvoke(SAY) if is_async else asyncio.to_thread(agent.invoke, SAY))
    assert stage.heard.names == ["session:start", "prompt:answer", "session:end"]
    assert ran.calls == [("note", {"text": "a"})]
    assert "never" in ran.requests[-1]


def make_agent_of_run(stage: Stage) -> Governed:
    """A run of a graph that nobody executes."""
    config: dict[str, Any] = {"configurable": {}, "metadata": {"lc_agent_name": "bob"}}
    return Governed(stage.hooks, GraphRun(config, object()))


@pytest.mark.parametrize(
    ("error", "has_answered", "reason"),
    [
        (None, True, "complete"),
        (None, False, "error"),
        (ValueError(), False, "error"),
        (TimeoutError(), False, "timeout"),
        (asyncio.CancelledError(), False, "user_exit"),
        (GeneratorExit(), False, "user_exit"),
        (KeyboardInterrupt(), True, "user_exit"),
    ],
)
def test_how_a_run_ended(error: Any, has_answered: bool, reason: str) -> None:
    """In our words."""
    assert read_reason(error, has_answered=has_answered) == reason


async def test_a_run_does_not_end_while_something_is_under_way(stage: Stage) -> None:
    """The last one to finish ends it."""
    stage.listen("session:end")
    governed = make_agent_of_run(stage)
    await governed.begin("hi")
    async with governed.work():
        async with governed.work():
            assert governed.stop(TimeoutError()) is None
        assert stage.heard.names == []
    assert [data["reason"] for _, data in stage.heard.events] == ["timeout"]


def test_a_run_in_a_thread_does_not_end_while_something_is_under_way(stage: Stage) -> None:
    """The same without a loop."""
    stage.listen("session:end")
    governed = make_agent_of_run(stage)
    governed.begin_sync("hi")
    with governed.work_sync() as run:
        assert run is not None
        assert governed.stop(None) is None
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


async def test_nothing_begins_in_a_run_that_has_ended(stage: Stage) -> None:
    """Whoever comes late reads that."""
    governed = make_agent_of_run(stage)
    await governed.begin("hi")
    reason = governed.stop(None)
    assert reason == "error"
    await governed.end(reason)
    async with governed.work() as run:
        assert run is None
    assert governed.refusal == OVER
    assert not governed.is_open


async def test_parallel_calls_open_one_run(stage: Stage) -> None:
    """As after a resumption, when no prompt was submitted here."""
    stage.listen("session:start", "prompt:submit")
    governed = make_agent_of_run(stage)
    runs = await asyncio.gather(*(governed.find_run() for _ in range(8)))
    assert len({id(run) for run in runs}) == 1
    assert stage.heard.names == ["session:start"]
    await governed.end("complete")


async def test_a_refused_session_is_not_asked_for_again(stage: Stage) -> None:
    """Every call of the run reads the same reason."""
    stage.answer("session:start", HookResult(action="deny", reason="not today"))
    governed = make_agent_of_run(stage)
    assert await governed.find_run() is None
    assert await asyncio.to_thread(governed.find_run_sync) is None
    assert "not today" in governed.refusal
    assert len(stage.of_type("session_started")) == 1


class Watch:
    """Nodes that look at the run that they are in."""

    def __init__(self, error: Exception | None = None) -> None:
        self.seen: list[GraphRun] = []
        self.executors: list[Any] = []
        self.ended: list[BaseException | None] = []
        self._error = error

    def look(self, state: Any) -> None:
        """Look, and ask to be told of the end the first time."""
        graph = read_graph_run()
        if not self.seen:
            graph.tell_end(self.ended.append, self.end)
        self.seen.append(graph)
        self.executors.append(graph.executor)

    async def look_async(self, state: Any) -> None:
        """The same on a loop."""
        self.look(state)

    def fail(self, state: Any) -> None:
        """End in an error, if there is one."""
        self.look(state)
        if self._error is not None:
            raise self._error

    async def end(self, error: BaseException | None) -> None:
        """Keep how it ended."""
        self.ended.append(error)

    def build(self, **options: Any) -> Any:
        """A graph of two nodes."""
        graph: Any = StateGraph(MessagesState)
        graph.add_node("one", self.look).add_node("two", self.fail)
        graph.add_edge(START, "one").add_edge("one", "two").add_edge("two", END)
        return graph.compile(**options)


def test_all_nodes_of_a_run_find_the_same_executor() -> None:
    """Those of another run find another one."""
    watch = Watch()
    graph = watch.build()
    graph.invoke(SAY)
    graph.invoke(SAY)
    first, second, third, fourth = watch.executors
    assert first is second
    assert third is fourth
    assert first is not third


def test_the_name_tells_runs_apart_too() -> None:
    """Where LangGraph hides its executor."""
    watch = Watch()
    watch.build().invoke(SAY)
    assert watch.seen[0].name == watch.seen[1].name


@pytest.mark.parametrize("error", [None, ValueError("no")])
def test_the_end_is_told(error: Exception | None) -> None:
    """Once, with the error if there was one."""
    watch = Watch(error)
    if error is None:
        watch.build().invoke(SAY)
    else:
        with pytest.raises(ValueError, match="no"):
            watch.build().invoke(SAY)
    assert watch.ended == [error]


@pytest.mark.parametrize("error", [None, ValueError("no")])
async def test_the_end_is_told_on_a_loop(error: Exception | None) -> None:
    """The same for the asynchronous entry point."""
    watch = Watch(error)
    if error is None:
        await watch.build().ainvoke(SAY)
    else:
        with pytest.raises(ValueError, match="no"):
            await watch.build().ainvoke(SAY)
    assert watch.ended == [error]


def test_a_checkpoint_is_known_where_a_run_can_be_resumed() -> None:
    """Without a checkpointer there is none."""
    found: list[str | None] = []

    def look(state: Any) -> None:
        found.append(read_graph_run().checkpoint)

    for saver in (None, InMemorySaver()):
        graph: Any = StateGraph(MessagesState)
        graph.add_node("one", look).add_edge(START, "one").add_edge("one", END)
        graph.compile(checkpointer=saver).invoke(SAY, {"configurable": {"thread_id": "1"}})
    assert found[0] is None
    assert found[1]


def test_a_stream_is_told_from_a_call() -> None:
    """Who streams reads what nodes write as they do it."""
    found: list[bool] = []

    def look(state: Any) -> None:
        found.append(read_graph_run().is_streaming)

    graph: Any = StateGraph(MessagesState)
    graph.add_node("one", look).add_edge(START, "one").add_edge("one", END)
    compiled = graph.compile()
    compiled.invoke(SAY)
    list(compiled.stream(SAY, stream_mode="messages"))
    list(compiled.stream(SAY, stream_mode="updates"))
    asyncio.run(compiled.ainvoke(SAY))
    assert found == [False, True, True, False]


def test_there_is_no_run_outside_of_one() -> None:
    """The error says where the middleware belongs."""
    with pytest.raises(RuntimeError, match=r"create_agent\(\.\.\., middleware="):
        read_graph_run()
