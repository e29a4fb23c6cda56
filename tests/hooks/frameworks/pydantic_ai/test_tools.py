"""Toolsets, their calls, arguments, results and questions."""

from __future__ import annotations

import asyncio
from datetime import date
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, SecretStr
from pydantic_ai import (
    Agent,
    AgentRunError,
    BinaryContent,
    CallDeferred,
    CombinedToolset,
    DeferredToolRequests,
    DeferredToolResults,
    FunctionToolset,
    ModelRetry,
    RunContext,
    RunUsage,
    SkipToolExecution,
    ToolApproved,
    ToolDenied,
    ToolFailed,
    ToolReturn,
    ToolsetTool,
    UserError,
)
from pydantic_ai.capabilities import AbstractCapability, HandleDeferredToolCalls, ToolSearch
from pydantic_ai.messages import ModelMessagesTypeAdapter, ToolCallPart, ToolReturnPart
from pydantic_ai.models.test import TestModel
from pydantic_ai.toolsets import AbstractToolset, WrapperToolset

from amplifier_core import HookResult
from amplifier_core.approval import ApprovalQuestion
from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, RunRefused, resume
from amplifier_hooks.frameworks.pydantic_ai.tools import (
    Gate,
    GovernedToolset,
    describe_arguments,
    describe_result,
    leads_to,
    matches_arguments,
    restore_result,
    validate_arguments,
)
from amplifier_hooks.frameworks.pydantic_ai.turn import Turn
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver
from tests.adapters.stage import DONE, Stage, ask, call, change_input, use

build = PydanticAIDriver().build


async def test_calls_of_one_reply_are_asked_about_at_once(stage: Stage) -> None:
    """Nobody waits for a question about another call."""
    shown: list[Any] = []
    both = asyncio.Event()

    async def decide(question: ApprovalQuestion) -> str:
        shown.append(question.tool_input["path"])
        if len(shown) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 60)
        return "Allow"

    stage.answer("tool:pre", ask(), tool="wipe")
    stage.ask_person(decide, decide)
    ran = Ran()
    script = use(call("wipe", 1, path="/a"), call("wipe", 2, path="/b"))
    await build(stage.hooks, script, ran).run("Do it.")
    assert sorted(shown) == ["/a", "/b"]
    assert sorted(one["path"] for one in ran.ran("wipe")) == ["/a", "/b"]


async def test_tools_of_a_toolset_for_one_run_are_governed(stage: Stage) -> None:
    """Wherever the agent has a tool from."""
    stage.listen("tool:pre")
    toolset = FunctionToolset[None]()
    toolset.add_function(lambda: "now", name="clock")
    await build(stage.hooks, use(call("clock")), Ran()).run("Do it.", toolsets=[toolset])
    assert [data["tool_name"] for _, data in stage.heard.events] == ["clock"]


async def test_a_tool_that_is_called_outside_a_run_does_not_run(stage: Stage) -> None:
    """There is no session that could judge it."""
    ran: list[str] = []
    toolset = FunctionToolset[None]()
    toolset.add_function(lambda: ran.append("ran"), name="clock")
    governed = AmplifierHooks(stage.hooks).get_wrapper_toolset(toolset)
    assert governed is not None
    ctx = RunContext[None](deps=None, model=TestModel(), usage=RunUsage())
    tools = await governed.get_tools(ctx)
    with pytest.raises(RunRefused, match="not judged this run"):
        await governed.call_tool("clock", {}, ctx, tools["clock"])
    assert ran == []


def test_a_foreign_toolset_is_not_certain_to_pass_calls_on(stage: Stage) -> None:
    """Those of the framework are, and ours."""

    class Foreign(WrapperToolset[None]):
        async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
            return "something else"

    gate = Gate(Turn(stage.hooks), "inline")
    governed = GovernedToolset(FunctionToolset(), gate)
    combined = CombinedToolset([FunctionToolset(), governed.prefixed("my")])
    assert leads_to(gate, combined)
    assert leads_to(gate, GovernedToolset(combined, Gate(Turn(stage.hooks), "inline")))
    assert not leads_to(gate, Foreign(governed))
    assert not leads_to(gate, FunctionToolset())


class Address(BaseModel):
    """What a tool takes."""

    street: str
    number: int = 1


SEND = use(Call("send", {"to": {"street": "Elm", "number": "7"}, "key": "k"}))


def add_send(agent: Agent[Any], got: list[Any]) -> None:
    """A tool that takes objects."""

    @agent.tool_plain
    def send(to: Address, key: SecretStr, copies: int = 1) -> Address:
        got.append((to, key.get_secret_value(), copies))
        return to


async def run(stage: Stage, script: list[Step], got: list[Any], **options: Any) -> Any:
    """Run an agent with that tool; returns the result of the call as the framework keeps it."""
    agent = build(stage.hooks, script, Ran(), **options)
    add_send(agent, got)
    return find_return(await agent.run("Do it."))


def find_return(result: Any) -> ToolReturnPart:
    """The first tool return in the messages."""
    parts = [part for message in result.all_messages() for part in message.parts]
    found: ToolReturnPart = next(one for one in parts if isinstance(one, ToolReturnPart))
    return found


async def test_hooks_see_the_json_that_the_model_wrote(stage: Stage) -> None:
    """Not the objects, and not their defaults; of the result, the JSON of the object."""
    stage.listen("tool:pre", "tool:post")
    got: list[Any] = []
    kept = await run(stage, SEND, got)
    pre, post = (data for _, data in stage.heard.events)
    assert pre["tool_input"] == {"to": {"street": "Elm", "number": "7"}, "key": "k"}
    assert post["tool_result"]["output"] == {"street": "Elm", "number": 7}
    assert got == [(Address(street="Elm", number=7), "k", 1)]
    assert kept.content is got[0][0]


async def test_changed_json_becomes_objects_by_the_tools_own_validator(stage: Stage) -> None:
    """The tool gets its own types, defaults included."""
    stage.answer("tool:pre", change_input(to={"street": "Oak"}))
    got: list[Any] = []
    await run(stage, SEND, got)
    assert got == [(Address(street="Oak", number=1), "k", 1)]


async def test_what_the_tool_does_not_take_is_explained(stage: Stage) -> None:
    """The model reads which value and why, and no retry is spent on it."""
    stage.answer("tool:pre", change_input(to={"road": "Oak"}))
    stage.listen("tool:error")
    got: list[Any] = []
    kept = await run(stage, SEND, got)
    assert got == []
    assert kept.outcome == "failed"
    assert '{"road":"Oak"}' in str(kept.content)
    assert "to.street: Field required" in str(kept.content)
    assert stage.heard.names == ["tool:error"]


async def test_changed_json_is_shown_to_the_tools_args_validator(stage: Stage) -> None:
    """It may still reject what a hook wrote."""
    stage.answer("tool:pre", change_input(text="forbidden"))
    agent = build(stage.hooks, use(call("say", text="fine")), ran := Ran())

    async def check(ctx: RunContext[Any], text: str) -> None:
        if text == "forbidden":
            raise ModelRetry("not that")

    @agent.tool_plain(args_validator=check)
    def say(text: str) -> str:
        ran.calls.append(("say", {"text": text}))
        return text

    await agent.run("Do it.")
    assert ran.calls == []
    assert "not that" in ran.requests[-1]


class PutObject(AbstractCapability[Any]):
    """Puts an object into the arguments that JSON cannot carry."""

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {**args, "key": SecretStr("from the vault")}


async def test_objects_of_another_capability_are_shown_as_json_and_run_as_they_are(
    stage: Stage,
) -> None:
    """Hooks see what will run, as far as JSON can say it."""
    stage.listen("tool:pre")
    got: list[Any] = []
    await run(stage, SEND, got, capabilities=[*driver_capabilities(stage), PutObject()])
    assert stage.heard.events[0][1]["tool_input"]["key"] == "**********"
    assert got[0][1] == "from the vault"


async def test_such_objects_cannot_be_changed(stage: Stage) -> None:
    """Nothing runs, rather than something that nobody meant."""
    stage.answer("tool:pre", change_input(copies=2))
    got: list[Any] = []
    more = [*driver_capabilities(stage), PutObject()]
    kept = await run(stage, SEND, got, capabilities=more)
    assert got == []
    assert "JSON cannot hold" in str(kept.content)


def driver_capabilities(stage: Stage) -> list[Any]:
    """Ours."""
    return [AmplifierHooks(stage.hooks)]


async def test_a_denial_is_one_in_the_messages(stage: Stage) -> None:
    """Programs that show a conversation can tell it from a failure."""
    stage.answer("tool:pre", HookResult(action="deny", reason="against the rules"))
    kept = await run(stage, SEND, [])
    assert kept.outcome == "denied"
    assert kept.content == "Operation denied by policy: against the rules"


@pytest.mark.parametrize("error", [ModelRetry("once more"), ToolFailed("no such street")])
async def test_what_a_tool_raises_for_the_model_is_told_and_passes(
    stage: Stage, error: Exception
) -> None:
    """The framework makes of it what it always does."""
    stage.listen("tool:error", "tool:post")
    agent = build(stage.hooks, use(call("fail")), ran := Ran())

    @agent.tool_plain
    def fail() -> str:
        raise error

    await agent.run("Do it.")
    assert stage.heard.names == ["tool:error"]
    assert stage.heard.events[0][1]["error"]["type"] == type(error).__name__
    assert str(error) in ran.requests[-1]


async def test_a_call_that_the_tool_defers_has_not_failed(stage: Stage) -> None:
    """The framework pauses the run with it."""
    stage.listen("tool:error", "tool:post")
    wanted = [str, DeferredToolRequests]
    agent = build(stage.hooks, use(call("later")), Ran(), output_type=wanted)

    @agent.tool_plain
    def later() -> str:
        raise CallDeferred(metadata={"ticket": 7})

    result = await agent.run("Do it.")
    assert isinstance(result.output, DeferredToolRequests)
    assert result.output.metadata == {"call_1": {"ticket": 7}}
    assert stage.heard.names == []


async def test_hooks_do_not_see_output_tools(stage: Stage) -> None:
    """They carry the answer, which hooks judge as such."""
    stage.listen("tool:pre", "prompt:answer")
    script: list[Step] = [[Call("final_result", {"street": "Elm"})], DONE]
    await build(stage.hooks, script, Ran(), output_type=Address).run("Do it.")
    assert stage.heard.names == ["prompt:answer"]
    assert stage.heard.events[0][1]["response"] == '{"street":"Elm","number":1}'


SEARCH: list[Step] = [[call("search_tools", 1, queries=["launch"])], [call("launch", 2)], DONE]


def add_hidden(agent: Any, ran: Ran) -> None:
    """A tool that the model has to search for."""

    @agent.tool_plain(defer_loading=True)
    def launch() -> str:
        """Launch the rocket."""
        ran.calls.append(("launch", {}))
        return "launched"


async def run_search(stage: Stage, script: list[Step], *more: Any) -> Ran:
    """An agent that searches for tools; the search stands around the toolset that hooks guard."""
    ran = Ran()
    wanted = [AmplifierHooks(stage.hooks), ToolSearch(), *more]
    agent = build(stage.hooks, script, ran, capabilities=wanted)
    add_hidden(agent, ran)
    await agent.run("Do it.")
    return ran


async def test_tools_that_capabilities_put_around_the_toolset_are_judged(stage: Stage) -> None:
    """A search for tools is a tool call as well, and what it finds another one."""
    stage.listen("tool:pre", "tool:post")
    ran = await run_search(stage, SEARCH)
    heard = [(name, data["tool_name"]) for name, data in stage.heard.events]
    searched = [("tool:pre", "search_tools"), ("tool:post", "search_tools")]
    assert heard == [*searched, ("tool:pre", "launch"), ("tool:post", "launch")]
    assert ran.calls == [("launch", {})]


async def test_they_can_be_denied(stage: Stage) -> None:
    """The search finds nothing then."""
    deny = HookResult(action="deny", reason="against the rules")
    stage.answer("tool:pre", deny, tool="search_tools")
    ran = await run_search(stage, [SEARCH[0], DONE])
    assert ran.calls == []
    assert "against the rules" in ran.requests[-1]
    assert "launch" not in ran.requests[-1].split("against the rules")[1]


async def test_they_can_be_changed(stage: Stage) -> None:
    """Another search than the model wanted."""

    def search_other(data: dict[str, Any]) -> HookResult:
        changed = {**data, "tool_input": {"queries": ["nothing of the kind"]}}
        return HookResult(action="modify", data=changed)

    stage.answer("tool:pre", search_other, tool="search_tools")
    ran = await run_search(stage, [SEARCH[0], DONE])
    assert "Launch the rocket" not in ran.requests[-1]


class Meddler(AbstractCapability[Any]):
    """Changes the arguments of a search after it was judged."""

    async def before_tool_execute(self, ctx: Any, *, args: Any, **_: Any) -> Any:
        return {"queries": ["something else"]}


async def test_what_is_changed_after_it_was_judged_does_not_run(stage: Stage) -> None:
    """The model reads why."""
    ran = await run_search(stage, [SEARCH[0], DONE], Meddler())
    assert "after hooks had judged them" in ran.requests[-1]


class Prefix(AbstractCapability[Any]):
    """Gives all tools another name, around the toolset that hooks guard."""

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return toolset.prefixed("my")


async def test_a_call_under_two_names_is_judged_once(stage: Stage) -> None:
    """By the name that the model called."""
    stage.listen("tool:pre", "tool:post")
    ran = Ran()
    both = [AmplifierHooks(stage.hooks), Prefix()]
    agent = build(stage.hooks, use(call("my_note", text="a")), ran, capabilities=both)
    await agent.run("Do it.")
    assert ran.calls == [("note", {"text": "a"})]
    assert [data["tool_name"] for _, data in stage.heard.events] == ["my_note", "my_note"]


class Answering(WrapperToolset[Any]):
    """Runs something of its own under the name of a tool."""

    async def call_tool(self, name: str, tool_args: Any, ctx: Any, tool: Any) -> Any:
        return (
            f"answered {tool_args}"
            if name == "note"
            else await super().call_tool(name, tool_args, ctx, tool)
        )


class Answers(AbstractCapability[Any]):
    """Stands around the toolset that hooks guard."""

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any]:
        return Answering(toolset)


@pytest.mark.parametrize("tool", ["note", "wipe"])
async def test_a_call_that_may_not_arrive_is_judged_before(stage: Stage, tool: str) -> None:
    """Whether a foreign toolset answers it or passes it on, hooks judge it once."""
    stage.listen("tool:pre", "tool:post")
    name = "text" if tool == "note" else "path"
    both = [AmplifierHooks(stage.hooks), Answers()]
    agent = build(stage.hooks, use(Call(tool, {name: "a"})), ran := Ran(), capabilities=both)
    await agent.run("Do it.")
    assert stage.heard.names == ["tool:pre", "tool:post"]
    assert len(ran.calls) == (0 if tool == "note" else 1)


async def test_such_a_call_can_be_denied(stage: Stage) -> None:
    """Nothing runs under its name."""
    stage.answer("tool:pre", HookResult(action="deny", reason="against the rules"))
    both = [AmplifierHooks(stage.hooks), Answers()]
    script = use(call("note", text="a"))
    await build(stage.hooks, script, ran := Ran(), capabilities=both).run("Do it.")
    assert "answered" not in ran.requests[-1]
    assert "against the rules" in ran.requests[-1]


WIPE = use(call("wipe", path="/tmp/x"))


def build_asking(stage: Stage, script: list[Step], ran: Ran, *more: Any) -> Any:
    """An agent whose questions are handed over."""
    both = [AmplifierHooks(stage.hooks, asks="interrupt"), *more]
    wanted = [str, DeferredToolRequests]
    return build(stage.hooks, script, ran, capabilities=both, output_type=wanted)


@pytest.mark.parametrize("second", ["Allow", "Deny"])
async def test_each_gate_of_a_call_is_asked_once(stage: Stage, second: str) -> None:
    """An answer to one question answers no other, also not a later one about the same call."""
    stage.answer("tool:pre", ask("First?"), name="first")
    stage.answer("tool:pre", ask("Second?"), name="second")
    ran, asked = Ran(), []
    agent = build_asking(stage, WIPE, ran)
    result = await agent.run("Do it.")
    while isinstance(result.output, DeferredToolRequests):
        question = result.output.metadata["call_1"]
        asked.append(question["prompt"])
        chosen = second if question["prompt"] == "Second?" else "Allow"
        results = resume(result.output, {"call_1": answer(question, chosen, by="ana")})
        result = await agent.run(
            message_history=result.all_messages(), deferred_tool_results=results
        )
    assert asked == ["First?", "Second?"]
    assert len(ran.calls) == (1 if second == "Allow" else 0)


async def test_what_the_agent_itself_defers_is_answered_beside_it(stage: Stage) -> None:
    """Hooks judge such a call when it is about to run."""
    stage.answer("tool:pre", ask(), tool="wipe")
    stage.listen("tool:pre")
    ran = Ran()
    script = use(call("wipe", 1, path="/tmp/x"), call("launch", 2))
    agent = build_asking(stage, script, ran)

    @agent.tool_plain(requires_approval=True)
    def launch() -> str:
        ran.calls.append(("launch", {}))
        return "launched"

    result = await agent.run("Do it.")
    assert {data["tool_name"] for _, data in stage.heard.events} == {"wipe"}
    requests = result.output
    assert {one.tool_call_id for one in requests.approvals} == {"call_1", "call_2"}
    answers = {"call_1": answer(requests.metadata["call_1"], "Allow")}
    await agent.run(
        message_history=result.all_messages(),
        deferred_tool_results=resume(requests, answers, approvals={"call_2": True}),
    )
    assert sorted(name for name, _ in ran.calls) == ["launch", "wipe"]
    assert "launch" in {data["tool_name"] for _, data in stage.heard.events}


OVERRIDE = ToolApproved(override_args={"path": "/tmp/z"})


@pytest.mark.parametrize(
    ("given", "ran_with"),
    [
        (True, "/tmp/x"),
        (ToolApproved(), "/tmp/x"),
        (OVERRIDE, "/tmp/z"),
        (False, None),
        (ToolDenied("use the trash"), None),
    ],
)
async def test_the_frameworks_own_approval_is_an_answer(
    stage: Stage, given: Any, ran_with: str | None
) -> None:
    """For what the history has as shown, also when it was written down in between."""
    stage.answer("tool:pre", lambda data: ask(f"Wipe {data['tool_input']['path']}?"))
    ran = Ran()
    agent = build_asking(stage, WIPE, ran)
    result = await agent.run("Do it.")
    history = ModelMessagesTypeAdapter.validate_json(result.all_messages_json())
    approved = DeferredToolResults(approvals={"call_1": given})
    result = await agent.run(message_history=history, deferred_tool_results=approved)
    assert not isinstance(result.output, DeferredToolRequests)
    assert ran.calls == ([] if ran_with is None else [("wipe", {"path": ran_with})])
    decided = {one["body"]["allowed"] for one in stage.of_type("approval_decided")}
    assert decided == {ran_with is not None}
    assert ("use the trash" in ran.requests[-1]) is isinstance(given, ToolDenied)


async def test_own_approvals_open_two_gates(stage: Stage) -> None:
    """Each counts for the question that was shown last."""
    stage.answer("tool:pre", ask("First?"), name="first")
    stage.answer("tool:pre", ask("Second?"), name="second")
    ran, asked = Ran(), []
    agent = build_asking(stage, WIPE, ran)
    result = await agent.run("Do it.")
    while isinstance(result.output, DeferredToolRequests):
        asked.append(result.output.metadata["call_1"]["prompt"])
        result = await agent.run(
            message_history=result.all_messages(),
            deferred_tool_results=result.output.build_results(approve_all=True),
        )
    assert asked == ["First?", "Second?"]
    assert len(ran.calls) == 1


async def test_an_own_approval_of_what_nobody_was_shown_is_none(stage: Stage) -> None:
    """A history without the question: it is asked, because nobody said what was allowed."""
    stage.answer("tool:pre", ask())
    ran = Ran()
    agent = build_asking(stage, WIPE, ran)
    history = (await agent.run("Do it.")).all_messages()
    for message in history:
        message.metadata = None
    approved = DeferredToolResults(approvals={"call_1": True})
    again = await agent.run(message_history=history, deferred_tool_results=approved)
    assert isinstance(again.output, DeferredToolRequests)
    assert ran.calls == []


@pytest.mark.parametrize("given", [True, OVERRIDE])
async def test_a_handler_may_approve_within_the_run(stage: Stage, given: Any) -> None:
    """What was shown; other arguments it has to give with an answer."""
    stage.answer("tool:pre", ask())

    async def handle(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        return requests.build_results(approvals={"call_1": given})

    ran = Ran()
    await build_asking(stage, WIPE, ran, HandleDeferredToolCalls(handle)).run("Do it.")
    assert ran.calls == ([("wipe", {"path": "/tmp/x"})] if given is True else [])


async def test_a_handler_may_answer_within_the_run(stage: Stage) -> None:
    """A capability of the framework, which asks somebody elsewhere."""
    stage.answer("tool:pre", ask())

    async def handle(ctx: RunContext[Any], requests: DeferredToolRequests) -> DeferredToolResults:
        shown = requests.metadata.items()
        return resume(requests, {one: answer(question, "Allow") for one, question in shown})

    ran = Ran()
    result = await build_asking(stage, WIPE, ran, HandleDeferredToolCalls(handle)).run("Do it.")
    assert ran.calls == [("wipe", {"path": "/tmp/x"})]
    assert isinstance(result.output, str)


async def test_the_agent_has_to_be_able_to_pause(stage: Stage) -> None:
    """The framework says what is missing, and nothing runs."""
    stage.answer("tool:pre", ask())
    ran = Ran()
    asking = [AmplifierHooks(stage.hooks, asks="interrupt")]
    with pytest.raises(UserError, match="DeferredToolRequests"):
        await build(stage.hooks, WIPE, ran, capabilities=asking).run("Do it.")
    assert ran.calls == []


def test_an_answer_to_what_no_hook_asked_is_refused() -> None:
    """The message says what hooks asked about, and where the other answer belongs."""
    requests = DeferredToolRequests(metadata={"call_2": {"amplifier": "approval"}})
    with pytest.raises(ValueError, match=r"'call_1'.*\['call_2'\].*approvals= or calls="):
        resume(requests, {"call_1": {"option": "Allow", "digest": "0"}})


REASON = "Operation denied by policy: against the rules"


class Answer(BaseModel):
    """No text."""

    number: int


def refuse_second(data: dict[str, Any]) -> HookResult:
    """Deny one prompt."""
    if data["prompt"] == "Two.":
        return HookResult(action="deny", reason="against the rules")
    return HookResult()


async def test_a_refused_run_has_the_conversation_as_it_was(stage: Stage) -> None:
    """Who goes on from its messages has lost nothing, and the refused prompt is not among them."""
    stage.answer("prompt:submit", refuse_second)
    ran = Ran()
    agent = build(stage.hooks, [DONE, DONE], ran)
    first = await agent.run("One.")
    refused = await agent.run("Two.", message_history=first.all_messages())
    assert refused.output == REASON
    assert refused.all_messages() == first.all_messages()
    assert refused.new_messages() == []
    await agent.run("Three.", message_history=refused.all_messages())
    assert "One." in ran.requests[-1]
    assert "Two." not in ran.requests[-1]


@pytest.mark.parametrize("wanted", [str | Answer, [str, Answer], str])
async def test_an_agent_that_may_answer_with_a_text_answers_the_reason(
    stage: Stage, wanted: Any
) -> None:
    """However its output type says so."""
    stage.answer("prompt:submit", refuse_second)
    agent = build(stage.hooks, [DONE], Ran(), output_type=wanted)
    assert (await agent.run("Two.")).output == REASON


async def test_any_other_agent_raises_it(stage: Stage) -> None:
    """As an error of the framework's own kind, which callers catch already."""
    stage.answer("prompt:submit", refuse_second)
    agent = build(stage.hooks, [DONE], Ran(), output_type=Answer)
    with pytest.raises(AgentRunError) as caught:
        await agent.run("Two.")
    assert isinstance(caught.value, RunRefused)
    assert str(caught.value) == REASON


async def test_nodes_of_a_refused_run_do_nothing(stage: Stage) -> None:
    """Also if the caller drives them by hand."""
    stage.answer("prompt:submit", refuse_second)
    ran = Ran()
    async with build(stage.hooks, [DONE], ran).iter("Two.") as run:
        first: Any = run.next_node
        second = await first.run(run.ctx)
        with pytest.raises(RunRefused, match="against the rules"):
            await second.run(run.ctx)
    assert ran.requests == []


driver = PydanticAIDriver()
HELP = use(call("helper", task="Clean up."))


async def test_a_sub_agent_has_a_session_inside_that_of_its_caller(stage: Stage) -> None:
    """Hooks hear of its start and its end, and what it answered."""
    stage.listen("session:start", "agent:spawn", "agent:complete", "session:end")
    await driver.run_with_helper(stage.hooks, HELP, [DONE])
    assert stage.heard.names == [
        "session:start",
        "agent:spawn",
        "session:start",
        "session:end",
        "agent:complete",
        "session:end",
    ]
    outer, spawn, inner, _, complete, _ = (data for _, data in stage.heard.events)
    assert inner["parent_id"] == spawn["parent_session_id"] == outer["session_id"]
    assert (spawn["agent_name"], spawn["task"]) == ("worker", "Clean up.")
    assert complete["result"] == {"output": DONE}
    assert complete["status"] == "success"


def build_pair(stage: Stage, ran: Ran, script: list[Step]) -> tuple[Any, Any]:
    """A governed agent, and one without hooks that its tool starts."""
    helper = build(None, script, ran, capabilities=[])
    agent = build(stage.hooks, use(call("helper", task="Clean up.")), Ran())

    @agent.tool_plain(name="helper")
    async def ask_helper(task: str) -> str:
        return str((await helper.run(task)).output)

    return agent, helper


async def test_a_sub_agent_without_hooks_is_governed(stage: Stage) -> None:
    """What its caller may not do, it may not do either; by itself it does as before."""
    stage.answer("tool:pre", HookResult(action="deny", reason="not on my machine"), tool="wipe")
    stage.listen("session:start", "agent:spawn", "prompt:submit", "session:end")
    ran = Ran()
    agent, helper = build_pair(stage, ran, [*WIPE, *WIPE])
    await agent.run("Do it.")
    assert ran.calls == []
    assert "not on my machine" in ran.requests[-1]
    assert stage.heard.names == [
        "session:start",
        "prompt:submit",
        "agent:spawn",
        "session:start",
        "prompt:submit",
        "session:end",
        "session:end",
    ]
    assert stage.heard.events[3][1]["parent_id"] == stage.heard.events[0][1]["session_id"]
    await helper.run("Do it.")
    assert len(ran.calls) == 1


async def test_a_sub_agent_that_has_the_hooks_itself_is_judged_once(stage: Stage) -> None:
    """Its own and those of its caller are the same."""
    stage.listen("tool:pre", "prompt:submit")
    hooks = stage.hooks
    ran = Ran()
    helper = build(None, WIPE, ran, capabilities=[AmplifierHooks(hooks)])
    agent = build(None, use(call("helper", task="c")), Ran(), capabilities=[AmplifierHooks(hooks)])

    @agent.tool_plain(name="helper")
    async def ask_helper(task: str) -> str:
        return str((await helper.run(task)).output)

    await agent.run("Do it.")
    assert stage.heard.names == ["prompt:submit", "tool:pre", "prompt:submit", "tool:pre"]
    assert len(ran.calls) == 1


async def test_a_stream_of_a_sub_agent_is_governed_too(stage: Stage) -> None:
    """Whichever way it is started."""
    stage.answer("tool:pre", HookResult(action="deny", reason="not on my machine"), tool="wipe")
    ran = Ran()
    helper = build(None, WIPE, ran, capabilities=[])
    agent = build(stage.hooks, use(call("helper", task="c")), Ran())

    @agent.tool_plain(name="helper")
    async def ask_helper(task: str) -> str:
        async with helper.run_stream(task) as result:
            return str(await result.get_output())

    await agent.run("Do it.")
    assert ran.calls == []


async def test_a_sub_agent_can_be_refused(stage: Stage) -> None:
    """Its caller reads why; it has no session."""
    stage.answer("agent:spawn", HookResult(action="deny", reason="no help today"))
    stage.listen("session:start", "agent:complete")
    ran = await driver.run_with_helper(stage.hooks, HELP, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "no help today" in ran.requests[-1]
    assert stage.heard.names == ["session:start"]


async def test_the_task_of_a_sub_agent_can_be_changed(stage: Stage) -> None:
    """It starts with another prompt, which is submitted like any other."""
    stage.answer(
        "agent:spawn",
        lambda data: HookResult(action="modify", data={**data, "task": "Polish."}),
    )
    stage.listen("prompt:submit", "provider:request")
    await driver.run_with_helper(stage.hooks, HELP, [DONE])
    prompts = [data["prompt"] for name, data in stage.heard.events if name == "prompt:submit"]
    assert prompts == ["Do it.", "Polish."]
    asked = [data["messages"] for name, data in stage.heard.events if name != "prompt:submit"]
    assert asked[1] == [{"role": "user", "content": "Polish."}]


async def test_a_task_has_to_be_a_text(stage: Stage) -> None:
    """What a hook leaves instead refuses the sub-agent."""
    stage.answer("agent:spawn", lambda data: HookResult(action="modify", data={**data, "task": 7}))
    ran = await driver.run_with_helper(stage.hooks, HELP, use(call("wipe", path="/")))
    assert ran.calls == []
    assert "it must be a text" in ran.requests[-1]


CTX = RunContext[None](deps=None, model=TestModel(), usage=RunUsage(), tool_name="book")


async def find_tool() -> ToolsetTool[None]:
    """A tool that takes objects."""

    def book(day: date, key: SecretStr, seats: int = 1) -> str:
        return "booked"

    toolset = FunctionToolset[None]([book])
    return (await toolset.get_tools(CTX))["book"]


SAID = {"day": "2026-11-17", "key": "k"}


def parse(tool: ToolsetTool[None], said: dict[str, Any]) -> dict[str, Any]:
    """What the framework makes of a call."""
    validated: dict[str, Any] = tool.args_validator.validate_python(said)
    return validated


async def test_the_models_own_json_is_shown_if_it_is_what_will_run() -> None:
    """Also if the model wrote it as a text."""
    tool = await find_tool()
    call = ToolCallPart("book", '{"day": "2026-11-17", "key": "k"}')
    assert describe_arguments(call, parse(tool, SAID), tool, CTX) == SAID


async def test_objects_that_are_something_else_are_shown_as_json() -> None:
    """Whoever changed them: what will run is shown, not what was said."""
    tool = await find_tool()
    validated = {**parse(tool, SAID), "day": date(2026, 12, 24)}
    shown = describe_arguments(ToolCallPart("book", SAID), validated, tool, CTX)
    assert shown["day"] == "2026-12-24"
    assert describe_arguments(None, validated, tool, CTX)["day"] == "2026-12-24"


async def test_objects_that_cannot_be_compared_are_shown_as_json() -> None:
    """A foreign comparison that fails counts as another value."""

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ArithmeticError("no")

        __hash__ = None  # type: ignore[assignment]

    tool = await find_tool()
    validated = {**parse(tool, SAID), "seats": Odd()}
    shown = describe_arguments(ToolCallPart("book", SAID), validated, tool, CTX)
    assert "Odd" in str(shown["seats"])


async def test_json_that_means_other_objects_is_told_apart() -> None:
    """A secret is masked in JSON, so its JSON is not the secret."""
    tool = await find_tool()
    validated = parse(tool, SAID)
    assert matches_arguments(SAID, validated, tool, CTX)
    assert not matches_arguments({**SAID, "key": "**********"}, validated, tool, CTX)
    assert not matches_arguments(SAID, validated, None, CTX)


async def test_changed_json_is_parsed_like_that_of_a_model() -> None:
    """Dates are texts in JSON."""
    tool = await find_tool()
    parsed = await validate_arguments({**SAID, "day": "2026-12-24"}, tool, CTX)
    assert parsed["day"] == date(2026, 12, 24)


async def test_json_that_the_tool_does_not_take_is_explained() -> None:
    """Which tool, which value, and what is wrong with it."""
    tool = await find_tool()
    with pytest.raises(ToolFailed, match=r"book was not run: .*someday.* day: Input should be"):
        await validate_arguments({**SAID, "day": "someday"}, tool, CTX)


async def test_json_that_nobody_can_check_does_not_run() -> None:
    """There is no validator."""
    with pytest.raises(ToolFailed, match="cannot be checked"):
        await validate_arguments(SAID, None, CTX)


PICTURE = BinaryContent(b"x", media_type="image/png")
RICH = ToolReturn({"rows": 1}, content=["see", PICTURE], metadata={"id": 7}, tools=["launch"])


def test_hooks_see_json() -> None:
    """Of any object; a text stays one."""
    assert describe_result("noted").output == "noted"
    assert describe_result({"on": date(2026, 11, 17)}).output == {"on": "2026-11-17"}
    assert describe_result(ToolReturn([1])).output == [1]
    assert "object" in str(describe_result(object()).output)


def test_hooks_see_all_that_the_model_reads() -> None:
    """Not what is for the application."""
    output = describe_result(RICH).output
    assert output["return_value"] == {"rows": 1}
    assert output["content"][0] == "see"
    assert "metadata" not in output


def test_a_denial_of_somebody_else_is_no_success() -> None:
    """Such as of another guard."""
    seen = describe_result(ToolDenied("not now"))
    assert not seen.success
    assert seen.output == "not now"


def test_what_hooks_leave_alone_is_the_same_object() -> None:
    """Nothing is copied."""
    called = Called(describe_result(RICH), RICH, ran=True)
    assert restore_result(called) is RICH


def test_another_output_takes_the_place_of_everything_that_the_model_reads() -> None:
    """What is for the application and the framework stays."""
    left = restore_result(Called(ToolResult(output="gone"), RICH, ran=True, changed=True))
    assert (left.return_value, left.content) == ("gone", None)
    assert (left.metadata, left.tools) == ({"id": 7}, ["launch"])
    assert restore_result(Called(ToolResult(output=[2]), [1], ran=True, changed=True)) == [2]


def test_each_of_two_texts_can_be_changed_by_itself() -> None:
    """A picture that is left alone stays what it is."""
    shown = describe_result(RICH).output
    changed = ToolResult(output={**shown, "return_value": {"rows": 2}})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.return_value == {"rows": 2}
    assert left.content == ["see", PICTURE]
    changed = ToolResult(output={**shown, "content": ["look"]})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.content == ["look"]
    changed = ToolResult(output={**shown, "content": {"see": 1}})
    left = restore_result(Called(changed, RICH, ran=True, changed=True))
    assert left.content == "{'see': 1}"


def test_a_denial_and_a_failure_are_raised() -> None:
    """Nobody takes them for a result."""
    with pytest.raises(SkipToolExecution) as skipped:
        restore_result(Called(ToolResult.refused("no")))
    assert isinstance(skipped.value.result, ToolDenied)
    assert skipped.value.result.message == "no"
    with pytest.raises(ToolFailed, match="broken"):
        restore_result(Called(ToolResult.failed("broken")))
