"""Requests and replies on the real framework."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("strands")

from pydantic import BaseModel
from strands.hooks import AfterModelCallEvent

from amplifier_core import HookResult
from amplifier_core.errors import SessionDenied
from amplifier_hooks.frameworks.strands import AmplifierHooks
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.strands import make_agent
from tests.adapters.stage import DONE, Stage, call, use

DENY = HookResult(action="deny", reason="against the rules")


async def read_stream(agent: Any) -> tuple[list[str], str]:
    """The pieces and the answer."""
    pieces, answer = [], ""
    async for event in agent.stream_async("Do it."):
        if "data" in event:
            pieces.append(event["data"])
        if "result" in event:
            answer = str(event["result"])
    return pieces, answer.removesuffix("\n")


@pytest.mark.parametrize("event", ["provider:response", "prompt:answer"])
async def test_held_text_goes_out_only_when_it_is_allowed(stage: Stage, event: str) -> None:
    """A reply or an answer that hooks refuse is read by nobody."""
    stage.answer(event, DENY)
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks, streams="held")])
    pieces, answer = await read_stream(agent)
    assert pieces == []
    assert "against the rules" in answer


async def test_held_text_still_comes_in_pieces(stage: Stage) -> None:
    """The caller gets the same events, later."""
    stage.listen("prompt:answer")
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks, streams="held")])
    pieces, answer = await read_stream(agent)
    assert pieces == ["All ", "done."]
    assert answer == DONE
    assert stage.heard.events[0][1]["streamed"] is False


async def test_live_text_is_called_streamed(stage: Stage) -> None:
    """Hooks are told that somebody may have read it."""
    stage.listen("prompt:answer")
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    await read_stream(agent)
    assert stage.heard.events[0][1]["streamed"] is True


async def test_a_changed_answer_is_what_the_agent_keeps(stage: Stage) -> None:
    """The next turn builds on it."""
    rewrite = lambda data: HookResult(action="modify", data={**data, "response": "Nearly."})  # noqa: E731
    stage.answer("prompt:answer", rewrite)
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    result = await agent.invoke_async("Do it.")
    assert str(result) == "Nearly.\n"
    assert agent.messages[-1]["content"] == [{"text": "Nearly."}]


async def test_a_reply_is_handed_on_as_it_came(stage: Stage) -> None:
    """Hooks that say continue leave the framework its own message, and what it cost."""
    stage.listen("provider:response")
    seen: list[Any] = []
    agent = make_agent(Ran(), [DONE], plugins=[AmplifierHooks(stage.hooks)])
    agent.hooks.add_callback(AfterModelCallEvent, lambda event: seen.append(event.stop_response))
    result = await agent.invoke_async("Do it.")
    assert seen[0].message is result.message
    heard = stage.heard.events[0][1]
    assert heard["usage"]["input_tokens"] == 7
    assert heard["model"] == "scripted-1"


async def test_what_hooks_add_joins_the_message_before_it(stage: Stage) -> None:
    """Some models want users and assistants to take turns."""
    stage.answer(
        "tool:post",
        HookResult(action="inject_context", context_injection="Lint: line 3", ephemeral=True),
    )
    ran = Ran()
    sent: list[Any] = []
    agent = make_agent(ran, use(call("note", text="a")), plugins=[AmplifierHooks(stage.hooks)])
    stream = agent.model.stream

    def keep(messages: Any, *rest: Any, **more: Any) -> Any:
        sent.append(messages)
        return stream(messages, *rest, **more)

    agent.model.stream = keep
    await agent.invoke_async("Do it.")
    assert [one["role"] for one in sent[1]] == ["user", "assistant", "user"]
    assert list(sent[1][2]["content"][0]) == ["toolResult"]
    assert sent[1][2]["content"][1] == {"text": "Lint: line 3"}
    assert "Lint" not in str(agent.messages)


class Weather(BaseModel):
    """A structured answer."""

    city: str


async def test_a_structured_answer_is_a_tool_call(stage: Stage) -> None:
    """The framework has the model call a tool for it, which hooks see."""
    stage.listen("tool:pre")
    agent = make_agent(
        Ran(), use(call("Weather", city="Bern")), plugins=[AmplifierHooks(stage.hooks)]
    )
    result = await agent.invoke_async("Do it.", structured_output_model=Weather)
    assert result.structured_output == Weather(city="Bern")
    assert [data["tool_name"] for _, data in stage.heard.events] == ["Weather"]


async def answer_weather(*_: Any, **__: Any) -> Any:
    """What a model does in the older way to a structured answer."""
    yield {"output": Weather(city="Bern")}


async def test_a_session_ends_with_the_older_way_to_a_structured_answer(stage: Stage) -> None:
    """It shows only its start and its end."""
    stage.listen("session:start", "prompt:submit", "provider:request", "session:end")
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    assert await agent.structured_output_async(Weather, "Do it.") == Weather(city="Bern")
    assert stage.heard.names == ["session:start", "session:end"]


@pytest.mark.parametrize("event", ["prompt:submit", "provider:request", "provider:response"])
async def test_a_guard_stops_the_older_way_to_a_structured_answer(stage: Stage, event: str) -> None:
    """It would go past the guard."""
    stage.answer(event, HookResult(), name="gatekeeper", on_error="deny")
    stage.listen("session:end")
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    with pytest.raises(SessionDenied, match=r"gatekeeper.*structured_output_model"):
        await agent.structured_output_async(Weather, "Do it.")
    assert stage.heard.names == ["session:end"]


async def test_a_refused_start_stops_the_older_way_to_a_structured_answer(stage: Stage) -> None:
    """The framework itself would go on."""
    stage.answer("session:start", DENY)
    agent: Any = make_agent(Ran(), [], plugins=[AmplifierHooks(stage.hooks)])
    agent.model.structured_output = answer_weather
    with pytest.raises(SessionDenied, match="against the rules"):
        await agent.structured_output_async(Weather, "Do it.")
