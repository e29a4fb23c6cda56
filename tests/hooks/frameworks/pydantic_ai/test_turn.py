"""A turn, its requests and replies, also streamed."""

from __future__ import annotations

from collections.abc import AsyncIterable
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel
from pydantic_ai import (
    AgentRunResult,
    AgentRunResultEvent,
    DeferredToolRequests,
    ImageUrl,
    ModelHTTPError,
)
from pydantic_ai.capabilities import AbstractCapability, ModelFallback
from pydantic_ai.messages import ModelMessage, ModelRequest, UserPromptPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from amplifier_core import HookResult
from amplifier_hooks.external.verdicts import TextVerdict
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.pydantic_ai import AmplifierHooks, RunRefused, resume
from amplifier_hooks.frameworks.pydantic_ai.turn import (
    Turn,
    describe_answer,
    restore_answer,
)
from tests.adapters.drivers.driver import Call, Ran, Step
from tests.adapters.drivers.pydantic_ai import PydanticAIDriver, Script, describe
from tests.adapters.stage import DONE, Stage, ask, call, use

build = PydanticAIDriver().build


def say_please(data: dict[str, Any]) -> HookResult:
    """Another prompt."""
    return HookResult(action="modify", data={**data, "prompt": f"{data['prompt']} Please."})


async def test_a_prompt_with_a_picture_keeps_it(stage: Stage) -> None:
    """Hooks judge its text."""
    stage.answer("prompt:submit", say_please)
    picture = ImageUrl("https://example.com/cat.png")
    result = await build(stage.hooks, [DONE], Ran()).run(["Who is this?", picture])
    part = result.all_messages()[0].parts[0]
    assert isinstance(part, UserPromptPart)
    assert part.content == ["Who is this? Please.", picture]


async def test_a_prompt_at_the_end_of_the_history_is_one(stage: Stage) -> None:
    """Servers pass on whole conversations, and no prompt beside them."""
    stage.answer("prompt:submit", say_please)
    ran = Ran()
    history = [ModelRequest(parts=[UserPromptPart("Buy milk.")])]
    result = await build(stage.hooks, [DONE], ran).run(message_history=history)
    assert "Buy milk. Please." in ran.requests[0]
    assert "Buy milk. Please." in describe(result.all_messages())
    assert history[0].parts[0].content == "Buy milk."


async def test_a_run_that_goes_on_after_a_pause_submits_nothing(stage: Stage) -> None:
    """Its prompt was judged before."""
    stage.answer("tool:pre", ask())
    stage.listen("prompt:submit", "prompt:answer")
    asking = [AmplifierHooks(stage.hooks, asks="interrupt")]
    wanted = [str, DeferredToolRequests]
    script = use(call("note", text="a"))
    agent = build(stage.hooks, script, Ran(), capabilities=asking, output_type=wanted)
    paused = await agent.run("Do it.")
    assert stage.heard.names == ["prompt:submit"]
    chosen = answer(paused.output.metadata["call_1"], "Allow")
    results = resume(paused.output, {"call_1": chosen})
    await agent.run(message_history=paused.all_messages(), deferred_tool_results=results)
    assert stage.heard.names == ["prompt:submit", "prompt:answer"]


async def test_a_changed_prompt_cannot_get_lost(stage: Stage) -> None:
    """Where the caller runs the first node by itself, the run is refused."""
    stage.answer("prompt:submit", say_please)
    ran = Ran()

    async def drive() -> None:
        async with build(stage.hooks, [DONE], ran).iter("Do it.") as run:
            first: Any = run.next_node
            await run.next(await first.run(run.ctx))

    with pytest.raises(RunRefused, match=r"agent_run\.next\(node\)"):
        await drive()
    assert ran.requests == []


class Answer(BaseModel):
    """No text."""

    number: int


async def test_an_answer_that_is_no_text_is_json_for_hooks(stage: Stage) -> None:
    """What they make of it is an object of the same kind."""
    stage.answer(
        "prompt:answer",
        lambda data: HookResult(action="modify", data={**data, "response": '{"number": 2}'}),
    )
    script: list[Step] = [[Call("final_result", {"number": 1})]]
    result = await build(stage.hooks, script, Ran(), output_type=Answer).run("Do it.")
    assert result.output == Answer(number=2)


async def test_a_denied_answer_is_not_in_the_messages(stage: Stage) -> None:
    """Who shows the conversation shows the reason."""
    stage.answer("prompt:answer", HookResult(action="deny", reason="against the rules"))
    result = await build(stage.hooks, [DONE], Ran()).run("Do it.")
    assert "against the rules" in result.output
    assert DONE not in describe(result.all_messages())
    assert "against the rules" in describe(result.all_messages())


class Keep(AbstractCapability[Any]):
    """Keeps what another instance of ours knows of a run."""

    turn: Turn | None = None

    async def before_run(self, ctx: Any) -> None:
        found: list[Any] = []
        ctx.root_capability.apply(found.append)
        self.turn = next(one._turn for one in found if isinstance(one, AmplifierHooks))


async def test_nothing_is_done_for_a_run_that_has_ended(stage: Stage) -> None:
    """Whoever holds on to it, and also if its session goes on."""
    hooks, keep = stage.hooks, Keep()
    agent = build(hooks, [DONE], Ran(), capabilities=[AmplifierHooks(hooks), keep])
    async with hooks.conversation():
        await agent.run("Do it.")
        assert keep.turn is not None
        assert not keep.turn.is_alive
        with pytest.raises(RunRefused, match="has ended"):
            keep.turn.use()


def test_nothing_is_done_for_a_run_that_nobody_has_judged(stage: Stage) -> None:
    """It has no session."""
    with pytest.raises(RunRefused, match="not judged this run yet"):
        Turn(stage.hooks).use()


DENY = HookResult(action="deny", reason="against the rules")
LASTING = HookResult(action="inject_context", context_injection="It is Monday.")


async def test_instructions_are_a_message_that_hooks_can_change(stage: Stage) -> None:
    """The model gets the new ones; the messages keep the agent's own."""

    def change(data: dict[str, Any]) -> HookResult:
        first, *rest = data["messages"]
        assert first == {"role": "system", "content": "Be brief."}
        messages = [{**first, "content": "Be kind."}, *rest]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", change)
    ran = Ran()
    agent = build(stage.hooks, [DONE], ran, instructions="Be brief.")
    result = await agent.run("Do it.")
    assert ran.requests[0].startswith("Be kind.\n")
    assert result.all_messages()[0].instructions == "Be brief."  # type: ignore[union-attr]


async def test_a_lasting_injection_is_part_of_the_messages(stage: Stage) -> None:
    """A run that continues from them has it, once."""
    stage.answer("prompt:submit", LASTING)
    ran = Ran()
    agent = build(stage.hooks, [DONE, DONE], ran)
    first = await agent.run("One.")
    assert "It is Monday." in describe(first.new_messages())
    stage.registry.unregister("policy")
    await agent.run("Two.", message_history=first.all_messages())
    assert [request.count("It is Monday.") for request in ran.requests] == [1, 1]


async def test_an_ephemeral_injection_is_not(stage: Stage) -> None:
    """It was for one request."""
    once = LASTING.model_copy(update={"ephemeral": True})
    stage.answer("provider:request", once)
    ran = Ran()
    result = await build(stage.hooks, [DONE], ran).run("One.")
    assert "It is Monday." in ran.requests[0]
    assert "It is Monday." not in describe(result.all_messages())


async def test_every_attempt_is_judged_and_has_the_injection_once(stage: Stage) -> None:
    """Another model is asked after the first one failed."""
    stage.answer("prompt:submit", LASTING)
    stage.listen("provider:request")
    ran = Ran()

    def fail(messages: list[ModelMessage], info: AgentInfo) -> Any:
        ran.requests.append(describe(messages))
        raise ModelHTTPError(500, "broken")

    good = Script(use(call("note", text="a")), ran).model
    both = [AmplifierHooks(stage.hooks), ModelFallback(good)]
    agent = build(stage.hooks, [], ran, capabilities=both)
    result = await agent.run("Do it.", model=FunctionModel(fail))
    assert [request.count("It is Monday.") for request in ran.requests] == [1, 1, 1, 1]
    assert describe(result.all_messages()).count("It is Monday.") == 1
    assert len(stage.heard.events) == 4


class Watch(AbstractCapability[Any]):
    """Keeps the messages as the framework made them, and as they went out."""

    def __init__(self) -> None:
        self.made: list[Any] = []
        self.sent: list[Any] = []

    async def before_model_request(self, ctx: Any, request_context: Any) -> Any:
        self.made = list(request_context.messages)
        return request_context

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        self.sent = list(request_context.messages)
        return response


async def test_what_hooks_leave_alone_are_the_frameworks_own_objects(stage: Stage) -> None:
    """Nothing is copied."""
    stage.listen("provider:request", "provider:response")
    watch = Watch()
    both = [watch, AmplifierHooks(stage.hooks)]
    await build(stage.hooks, [DONE], Ran(), capabilities=both).run("Do it.")
    assert len(watch.made) == 1
    assert watch.sent[0] is watch.made[0]


@pytest.mark.parametrize("event", ["provider:request", "provider:response"])
async def test_an_agent_that_answers_no_text_raises_the_reason(stage: Stage, event: str) -> None:
    """Instead of asking the model again for an output of its type."""
    stage.answer(event, DENY)
    ran = Ran()
    script: list[Step] = [[Call("final_result", {"number": 1})]] * 3
    with pytest.raises(RunRefused, match="against the rules"):
        await build(stage.hooks, script, ran, output_type=Answer).run("Do it.")
    assert len(ran.requests) == (1 if event == "provider:response" else 0)


async def test_what_a_reply_costs_is_told(stage: Stage) -> None:
    """With the names that budgets read."""
    stage.listen("provider:response")
    await build(stage.hooks, [DONE], Ran()).run("Do it.")
    usage = stage.heard.events[0][1]["usage"]
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0


driver = PydanticAIDriver()
EVENTS = ("provider:response", "prompt:answer")


def change(data: dict[str, Any]) -> HookResult:
    """Another text."""
    text: Any = "Nearly."
    if "prompt" not in data:
        text = {**data["response"], "content": [{"type": "text", "text": "Nearly."}]}
    return HookResult(action="modify", data={**data, "response": text})


@pytest.mark.parametrize("event", EVENTS)
async def test_a_denial_of_what_was_streamed_is_raised(stage: Stage, event: str) -> None:
    """A result would look as if nobody had read it."""
    stage.answer(event, DENY)
    stage.listen("session:end")
    with pytest.raises(RunRefused, match="against the rules"):
        await driver.stream(stage.hooks, [DONE])
    assert stage.heard.names == ["session:end"]


@pytest.mark.parametrize("event", EVENTS)
async def test_a_change_of_what_was_streamed_is_told(stage: Stage, event: str) -> None:
    """On the screen and in the trail: the stream had what the model wrote."""
    stage.answer(event, change)
    ran = await driver.stream(stage.hooks, [DONE])
    assert "".join(ran.pieces) == DONE
    warned = [text for text, level, _ in stage.display.messages if level == "warning"]
    assert len(warned) == 1
    assert event in warned[0]
    assert [one["body"]["what"] for one in stage.of_type("error")] == ["streaming"]


@pytest.mark.parametrize("event", EVENTS)
async def test_a_change_is_in_the_result_where_there_is_one(stage: Stage, event: str) -> None:
    """Events are streamed, then comes the result, with the messages."""
    stage.answer(event, change)
    async with driver.build(stage.hooks, [DONE], Ran()).run_stream_events("Do it.") as events:
        *_, last = [one async for one in events]
    assert isinstance(last, AgentRunResultEvent)
    assert last.result.output == "Nearly."
    assert DONE not in describe(last.result.all_messages())


async def test_hooks_know_that_the_answer_was_streamed(stage: Stage) -> None:
    """And when it was not."""
    stage.listen("prompt:answer")

    async def read(ctx: Any, events: AsyncIterable[Any]) -> None:
        async for _ in events:
            pass

    await driver.build(stage.hooks, [DONE], Ran()).run("Do it.", event_stream_handler=read)
    await driver.run(stage.hooks, [DONE])
    assert [data["streamed"] for _, data in stage.heard.events] == [True, False]


async def test_a_denied_reply_with_calls_ends_the_stream_with_the_reason(stage: Stage) -> None:
    """Nobody has read anything yet, and the calls do not run."""
    stage.answer("provider:response", DENY)
    ran = Ran()
    agent = driver.build(stage.hooks, use(call("wipe", path="/")), ran)
    async with agent.run_stream("Do it.") as result:
        assert "against the rules" in await result.get_output()
    assert ran.calls == []


async def test_a_refused_request_streams_the_reason(stage: Stage) -> None:
    """The model is not called."""
    stage.answer("provider:request", DENY)
    ran = await driver.stream(stage.hooks, [DONE])
    assert ran.requests == []
    assert "against the rules" in "".join(ran.pieces)


def test_a_stream_without_a_loop_is_governed(stage: Stage) -> None:
    """`run_stream_sync`."""
    stage.answer("tool:pre", DENY, tool="wipe")
    stage.listen("session:end")
    ran = Ran()
    agent = driver.build(stage.hooks, use(call("wipe", path="/")), ran)
    with agent.run_stream_sync("Do it.") as result:
        assert "".join(result.stream_text(delta=True)) == DONE
    assert ran.calls == []
    assert stage.heard.names == ["session:end"]


CHANGED = TextVerdict(True, '{"number": 2}', changed=True)
REFUSED = TextVerdict(False, "no")


def test_hooks_see_a_text() -> None:
    """JSON of what is none; nothing of a run that only pauses."""
    assert describe_answer(AgentRunResult("Done.")) == "Done."
    assert describe_answer(AgentRunResult(Answer(number=1))) == '{"number":1}'
    assert describe_answer(AgentRunResult(DeferredToolRequests())) is None


@pytest.mark.parametrize("output", ["Done.", Answer(number=1)])
def test_an_answer_that_hooks_leave_alone_is_the_same_result(output: Any) -> None:
    """Nothing is copied."""
    result = AgentRunResult(output)
    assert restore_answer(result, TextVerdict(True, "Done."), streamed=True) is result


def test_another_text_is_the_output() -> None:
    """A reason as well."""
    result = AgentRunResult("Done.")
    assert restore_answer(result, CHANGED, streamed=False).output == CHANGED.text
    assert restore_answer(result, REFUSED, streamed=False).output == "no"


def test_another_object_is_of_the_same_kind() -> None:
    """What is not is refused, and the message says what it was."""
    result = AgentRunResult(Answer(number=1))
    assert restore_answer(result, CHANGED, streamed=False).output == Answer(number=2)
    with pytest.raises(RunRefused, match="'no', which is no Answer"):
        restore_answer(result, TextVerdict(True, "no", changed=True), streamed=False)


@pytest.mark.parametrize(("output", "streamed"), [("Done.", True), (Answer(number=1), False)])
def test_a_reason_without_a_place_is_raised(output: Any, streamed: bool) -> None:
    """Where the answer was read already, or is no text."""
    with pytest.raises(RunRefused, match="no"):
        restore_answer(AgentRunResult(output), REFUSED, streamed=streamed)
