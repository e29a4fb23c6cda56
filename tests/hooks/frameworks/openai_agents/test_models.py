"""Models behind the hooks, also those that stream."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    Agent,
    Model,
    ModelProvider,
    ModelRefusalError,
    OutputGuardrail,
    RunConfig,
    Runner,
    RunResultStreaming,
    SQLiteSession,
    UserError,
    function_tool,
)
from agents.testing import ModelStep, ScriptedModel, assistant_message, function_call
from openai.types.responses import ResponseFailedEvent
from pydantic import BaseModel

from amplifier_core import HookResult
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.openai_agents import amplify, questions, settle
from amplifier_hooks.frameworks.openai_agents.models import govern_model, govern_provider
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.openai_agents import CONFIG, make_model, make_tools
from tests.adapters.stage import DONE, Stage, ask, call, use

DENY = HookResult(action="deny", reason="against the rules")


class OneModel(ModelProvider):
    """A provider that has one model, by any name."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.names: list[str | None] = []

    def get_model(self, model_name: str | None) -> Model:
        self.names.append(model_name)
        return self.model


def change(**values: Any) -> Any:
    """A hook's answer: another reply."""

    def modify(data: dict[str, Any]) -> HookResult:
        return HookResult(
            action="modify", data={**data, "response": {**data["response"], **values}}
        )

    return modify


@pytest.mark.parametrize("where", ["agent", "name", "nothing", "run", "run by name"])
async def test_every_way_to_a_model_is_governed(stage: Stage, where: str) -> None:
    """An object or a name, of the agent or of the run."""
    stage.listen("provider:request", "provider:response")
    model = make_model([DONE])
    provider = OneModel(model)
    chosen: Any = {"agent": model, "name": "gpt-x"}.get(where)
    agent = amplify(Agent("agent", model=chosen), stage.hooks)
    of_run: Any = {"run": model, "run by name": "gpt-x"}.get(where)
    config = RunConfig(model=of_run, model_provider=provider, tracing_disabled=True)
    result = await Runner.run(agent, "Go.", run_config=config)
    assert result.final_output == DONE
    assert stage.heard.names == ["provider:request", "provider:response"]
    assert config.model_provider is provider
    assert config.model is of_run


async def test_an_unchanged_request_is_the_very_one(stage: Stage) -> None:
    """Nothing is rebuilt that no hook has changed, and the reply is the model's own."""
    seen: list[Any] = []

    class Watching(ScriptedModel):
        async def get_response(self, *args: Any, **more: Any) -> Any:
            response = await super().get_response(*args, **more)
            seen.append((self, more["input"], response.output[0]))
            return response

    stage.listen("provider:request", "provider:response", "prompt:answer")
    model = Watching([[assistant_message(DONE)]])
    given = [{"role": "user", "content": [{"type": "input_text", "text": "Go."}]}]
    result = await Runner.run(
        amplify(Agent("agent", model=model), stage.hooks), given, run_config=CONFIG
    )
    stand_in, sent, item = seen[0]
    assert isinstance(stand_in, Watching)
    assert sent == given
    assert result.raw_responses[0].output[0] is item
    assert len(model.calls) == 1


def test_outside_of_a_run_a_model_is_itself(stage: Stage) -> None:
    """Hooks belong to runs."""
    model = make_model([])
    assert govern_model(model) is model


class Total(BaseModel):
    """The output of an agent with an output type."""

    total: int


@pytest.mark.parametrize("event", ["provider:request", "provider:response", "prompt:answer"])
async def test_where_no_text_fits_a_denial_is_a_refusal(stage: Stage, event: str) -> None:
    """An agent with an output type: the SDK raises it, or has it handled by the application."""
    stage.answer(event, DENY)
    model = make_model(['{"total": 7}'])
    agent = amplify(Agent("agent", model=model, output_type=Total), stage.hooks)
    with pytest.raises(ModelRefusalError, match="against the rules"):
        await Runner.run(agent, "Go.", run_config=CONFIG)


async def test_a_typed_answer_can_be_changed(stage: Stage) -> None:
    """Hooks see its JSON, once; the SDK checks what they leave."""
    stage.listen("prompt:answer")
    stage.answer(
        "prompt:answer",
        lambda data: HookResult(action="modify", data={**data, "response": '{"total": 8}'}),
    )
    model = make_model(['{"total": 7}'])
    agent = amplify(Agent("agent", model=model, output_type=Total), stage.hooks)
    result = await Runner.run(agent, "Go.", run_config=CONFIG)
    assert result.final_output == Total(total=8)
    assert len(stage.heard.events) == 1


async def test_a_denied_answer_is_nowhere(stage: Stage) -> None:
    """Not in the result, not in its items, not in the session that the next turn reads."""
    stage.answer("prompt:answer", DENY)
    session = SQLiteSession("one")
    agent = amplify(Agent("agent", model=make_model(["The PIN is 4711."])), stage.hooks)
    result = await Runner.run(agent, "Go.", session=session, run_config=CONFIG)
    assert "against the rules" in result.final_output
    assert "4711" not in str(result.to_input_list()) + str(await session.get_items())
    session.close()


async def test_what_the_sdk_kept_is_not_changed_by_a_request(stage: Stage) -> None:
    """A hook that hides something from the model hides it from no one else."""

    def hide(data: dict[str, Any]) -> HookResult:
        messages = [{**one, "content": "[hidden]"} for one in data["messages"]]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", hide)
    model = make_model([DONE])
    agent = amplify(Agent("agent", model=model, instructions="Be kind."), stage.hooks)
    result = await Runner.run(agent, "My PIN is 4711.", run_config=CONFIG)
    sent = model.calls[0]
    assert sent.system_instructions == "[hidden]"
    assert [one["content"] for one in sent.input] == ["[hidden]"]
    assert "4711" in str(result.to_input_list())


async def test_a_change_that_cannot_be_written_is_a_denial(stage: Stage) -> None:
    """The request does not go out half changed."""

    def add(data: dict[str, Any]) -> HookResult:
        messages = [*data["messages"], {"role": "tool", "content": "found"}]
        return HookResult(action="modify", data={**data, "messages": messages})

    stage.answer("provider:request", add)
    model = make_model([DONE])
    result = await Runner.run(
        amplify(Agent("agent", model=model), stage.hooks), "Go.", run_config=CONFIG
    )
    assert model.calls == ()
    assert "a message with the role 'tool'" in result.final_output


async def test_a_reply_without_its_calls_ends_the_turn(stage: Stage) -> None:
    """A hook may drop what the model wants to do."""
    stage.answer("provider:response", change(tool_calls=None))
    ran = Ran()
    model = make_model(use(call("wipe", path="/")))
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), stage.hooks)
    result = await Runner.run(agent, "Go.", run_config=CONFIG)
    assert ran.calls == []
    assert result.final_output == ""


async def test_a_model_that_names_things_otherwise_is_called_as_the_sdk_calls_it(
    stage: Stage,
) -> None:
    """In a stream, most arguments have no names."""

    class Other(ScriptedModel):
        async def stream_response(self, said: Any, given: Any, *rest: Any, **more: Any) -> Any:
            async for event in super().stream_response(said, given, *rest, **more):
                yield event

    ran = Ran()
    result = await stream(stage, Other([[assistant_message(DONE)]]), ran)
    assert result.final_output == DONE


async def test_what_cannot_be_governed_is_not_used(stage: Stage) -> None:
    """Rather than that its models are asked without hooks."""

    class Bare:
        __slots__ = ()

    with pytest.raises(UserError, match="in front of a Bare: its class has slots"):
        govern_provider(Bare())  # type: ignore[arg-type]


# Streams


class Sparse(ScriptedModel):
    """A model whose last event has no output, as some services send it."""

    async def stream_response(self, *args: Any, **more: Any) -> Any:
        async for event in super().stream_response(*args, **more):
            if event.type == "response.completed":
                empty = event.response.model_copy(update={"output": []})
                yield event.model_copy(update={"response": empty})
            else:
                yield event


async def stream(stage: Stage, model: ScriptedModel, ran: Ran) -> Any:
    """Run an agent, and read its stream to the end."""
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    async for event in result.stream_events():
        if event.type == "raw_response_event" and event.data.type.endswith("text.delta"):
            ran.pieces.append(event.data.delta)
    return result


@pytest.mark.parametrize("kind", [ScriptedModel, Sparse])
async def test_a_streamed_reply_is_judged(stage: Stage, kind: type[ScriptedModel]) -> None:
    """Also where the SDK takes the items that were streamed."""
    stage.answer("provider:response", DENY)
    ran = Ran()
    model = kind([[function_call("wipe", {"path": "/"}, call_id="call_1")]])
    result = await stream(stage, model, ran)
    assert ran.calls == []
    assert "against the rules" in result.final_output


@pytest.mark.parametrize("kind", [ScriptedModel, Sparse])
async def test_streamed_calls_that_a_hook_dropped_do_not_come_back(
    stage: Stage, kind: type[ScriptedModel]
) -> None:
    """With nothing left, the SDK would take what was streamed."""
    stage.answer("provider:response", change(tool_calls=None))
    ran = Ran()
    model = kind([[function_call("wipe", {"path": "/"}, call_id="call_1")]])
    result = await stream(stage, model, ran)
    assert ran.calls == []
    assert result.final_output == ""


async def test_a_denied_request_streams_the_reason(stage: Stage) -> None:
    """Whoever shows pieces shows it."""
    stage.answer("provider:request", DENY)
    ran, model = Ran(), make_model([DONE])
    result = await stream(stage, model, ran)
    assert model.calls == ()
    assert "against the rules" in "".join(ran.pieces)
    assert result.final_output == "".join(ran.pieces)


async def test_a_streamed_answer_says_that_it_was_streamed(stage: Stage) -> None:
    """Hooks know that somebody has read it; what they leave is the final output."""
    stage.listen("prompt:answer")
    stage.answer(
        "prompt:answer",
        lambda data: HookResult(action="modify", data={**data, "response": "Nearly."}),
    )
    ran = Ran()
    result = await stream(stage, make_model([DONE]), ran)
    assert stage.heard.events[0][1]["streamed"] is True
    assert "".join(ran.pieces) == DONE
    assert result.final_output == "Nearly."


async def test_a_model_that_fails_fails_as_ever(stage: Stage) -> None:
    """Its exception reaches the caller, and the session ends with an error."""
    stage.listen("session:end")
    model = ScriptedModel([ModelStep.raise_error(OSError("no line"))])
    agent = amplify(Agent("agent", model=model), stage.hooks)
    with pytest.raises(OSError, match="no line"):
        await Runner.run(agent, "Go.", run_config=CONFIG)
    assert stage.heard.events[0][1]["reason"] == "error"


async def test_the_stream_of_a_model_is_closed_with_the_run(stage: Stage) -> None:
    """Also of one that breaks off in the middle."""
    closed: list[bool] = []

    class Breaking(ScriptedModel):
        async def stream_response(self, *args: Any, **more: Any) -> Any:
            try:
                async for event in super().stream_response(*args, **more):
                    if event.type == "response.completed":
                        yield ResponseFailedEvent(
                            type="response.failed", response=event.response, sequence_number=9
                        )
                    yield event
            finally:
                closed.append(True)

    with pytest.raises(Exception, match=r"response\.failed"):
        await stream(stage, Breaking([[assistant_message(DONE)]]), Ran())
    assert closed == [True]


async def test_a_stream_can_be_looked_at_before_it_starts(stage: Stage) -> None:
    """Hooks judge the prompt first; afterwards the result is that of the SDK."""
    model = make_model([DONE])
    agent = amplify(Agent("agent", model=model), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", max_turns=3, run_config=CONFIG)
    assert isinstance(result, RunResultStreaming)
    assert (result.is_complete, result.final_output, result.max_turns) == (False, None, 3)
    assert result.current_agent is agent
    kinds = [event.type async for event in result.stream_events()]
    assert kinds[0] == "agent_updated_stream_event"
    assert result.is_complete
    assert result.final_output == DONE
    assert result.last_agent is agent
    assert len(result.new_items) == 1
    assert result.run_loop_exception is None


async def test_a_session_ends_before_its_stream_does(stage: Stage) -> None:
    """Who has read a stream to its end finds everything recorded."""
    stage.listen("session:end")
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    async for _ in result.stream_events():
        pass
    assert stage.heard.names == ["session:end"]


async def test_a_stream_that_nobody_reads_runs_all_the_same(stage: Stage) -> None:
    """As with the SDK alone."""
    ran = Ran()
    model = make_model(use(call("note", text="a")))
    agent = amplify(Agent("agent", tools=make_tools(ran), model=model), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    assert result.run_loop_task is not None
    await result.run_loop_task
    assert ran.calls == [("note", {"text": "a"})]
    assert result.final_output == DONE


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_cancelled_stream_ends_its_session(stage: Stage, at_once: bool) -> None:
    """Before it has started, and in the middle."""
    asked = asyncio.Event()
    stage.listen("session:end")

    @function_tool
    async def wait() -> str:
        asked.set()
        await asyncio.Event().wait()
        return ""

    agent = amplify(Agent("agent", tools=[wait], model=make_model(use(call("wait")))), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    if not at_once:
        await asyncio.wait_for(asked.wait(), 60)
    result.cancel()
    assert [event async for event in result.stream_events() if event.type == "x"] == []
    task: Any = result.run_loop_task
    await asyncio.wait([task], timeout=60)
    assert result.final_output is None
    assert stage.heard.names == ([] if at_once else ["session:end"])


async def test_a_stream_that_fails_raises(stage: Stage) -> None:
    """What the SDK raises in a run is raised to who reads the stream."""
    stage.listen("session:end")
    model = ScriptedModel([ModelStep.raise_error(OSError("no line"))])
    result = Runner.run_streamed(
        amplify(Agent("agent", model=model), stage.hooks), "Go.", run_config=CONFIG
    )
    with pytest.raises(OSError, match="no line"):
        async for _ in result.stream_events():
            pass
    assert [data["reason"] for _, data in stage.heard.events] == ["error"]


async def test_what_is_wrong_with_a_call_is_raised_at_once(stage: Stage) -> None:
    """As with the SDK alone, and nothing starts."""
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    stage.listen("session:start")
    session = SQLiteSession("one")
    with pytest.raises(UserError, match="conversation_id"):
        Runner.run_streamed(agent, "Go.", session=session, conversation_id="c")
    with pytest.raises(TypeError, match="Run hooks"):
        Runner.run_streamed(agent, "Go.", hooks="none")  # type: ignore[arg-type]
    agent.output_guardrails.append(OutputGuardrail(lambda *_: None))  # type: ignore[arg-type]
    with pytest.raises(UserError, match="Output guardrails"):
        Runner.run_streamed(agent, "Go.", conversation_id="c")
    assert stage.heard.names == []
    session.close()


async def test_what_the_caller_holds_of_a_stream_is_what_fills(stage: Stage) -> None:
    """Lists that were taken before it started are not left behind."""
    agent = amplify(Agent("agent", model=make_model([DONE])), stage.hooks)
    result = Runner.run_streamed(agent, "Go.", run_config=CONFIG)
    items = result.new_items
    async for _ in result.stream_events():
        pass
    assert items is result.new_items
    assert [one.type for one in items] == ["message_output_item"]


async def test_a_stream_that_goes_on_shows_at_once_how_far_it_had_come(stage: Stage) -> None:
    """As the SDK does; nothing is there twice afterwards."""
    stage.answer("tool:pre", ask(), tool="wipe")
    ran = Ran()
    model = make_model(use(call("note", 1, text="a"), call("wipe", 2, path="/")))
    agent = Agent("agent", tools=make_tools(ran), model=model)
    amplify(agent, stage.hooks, asks="interrupt")
    first = await Runner.run(agent, "Go.", run_config=CONFIG)
    state = first.to_state()
    for item, payload in questions(first):
        settle(state, item, answer(payload, "Allow"))
    result = Runner.run_streamed(agent, state, run_config=CONFIG)
    shown = [one.type for one in result.new_items]
    assert shown.count("tool_call_item") == 2
    async for _ in result.stream_events():
        pass
    assert result.final_output == DONE
    assert [one.type for one in result.new_items].count("tool_call_item") == 2
