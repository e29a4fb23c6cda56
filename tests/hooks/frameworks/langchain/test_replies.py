"""Requests to a model and its replies."""

from __future__ import annotations

import time
from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolCall, ToolMessage
from pydantic import BaseModel

from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.verdicts import ReplyVerdict, RequestVerdict
from amplifier_hooks.frameworks.langchain.messages import (
    change_reply,
    change_request,
    describe_failure,
    describe_request,
    list_tools,
    name_model,
    name_provider,
    read_reply,
)
from tests.adapters.drivers.driver import Ran
from tests.adapters.drivers.langchain import make_model, make_tools

CALL = ToolCall(name="note", args={"text": "a"}, id="1", type="tool_call")


class Weather(BaseModel):
    """The weather somewhere."""

    degrees: int


def make_request(**more: Any) -> ModelRequest[Any]:
    """A request to the scripted model."""
    given: dict[str, Any] = {
        "model": make_model([], []),
        "messages": [HumanMessage("hi")],
        "system_message": SystemMessage("be"),
        "tools": [*make_tools(Ran()), {"type": "web_search"}],
        **more,
    }
    return ModelRequest(**given)


def test_what_a_request_says_about_itself() -> None:
    """The conversation with its system message, the provider, the tools, also those elsewhere."""
    request = make_request()
    assert [one["role"] for one in describe_request(request)] == ["system", "user"]
    assert name_provider(request) == "generic-fake-chat-model"
    assert name_model(request) is None
    names = [one if isinstance(one, str) else one.name for one in list_tools(request)]
    assert names == ["note", "wipe", "boom", "web_search"]


def test_a_model_is_named_as_its_class_does_it() -> None:
    """Integrations call it model_name or model."""

    class Model:
        model = "x-1"

    assert name_model(make_request(model=Model())) == "x-1"


def test_a_request_is_the_same_object_or_another() -> None:
    """The conversation of the agent is not changed with it."""
    request = make_request()
    assert change_request(request, RequestVerdict(True)) is request
    placed = [Placed(0), Placed(1, {"role": "user", "content": "ho"})]
    changed = change_request(request, RequestVerdict(True, placed=placed, changed=True))
    assert changed.messages[0].content == "ho"
    assert changed.system_message is request.system_message
    assert request.messages[0].content == "hi"


def test_what_a_reply_says() -> None:
    """Text, calls, tokens, the model that answered, and how it ended."""
    message = AIMessage(
        "so",
        tool_calls=[CALL],
        usage_metadata={"input_tokens": 3, "output_tokens": 4, "total_tokens": 7},
        response_metadata={"model_name": "x-1", "finish_reason": "stop"},
    )
    reply = read_reply(ModelResponse(result=[message]), time.perf_counter())
    assert (reply.text, reply.model, reply.finish_reason) == ("so", "x-1", "stop")
    assert reply.calls == [{"id": "1", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {"input_tokens": 3, "output_tokens": 4, "total_tokens": 7}
    assert read_reply(ModelResponse(result=[]), 0.0).text == ""


def test_a_reply_is_the_same_object_or_another() -> None:
    """Refused, it calls no tool."""
    response: ModelResponse[Any] = ModelResponse(result=[AIMessage("so", tool_calls=[CALL])])
    assert change_reply(response, ReplyVerdict(True)) is response
    refused = change_reply(response, ReplyVerdict(False, "no")).result[0]
    assert isinstance(refused, AIMessage)
    assert (refused.content, refused.tool_calls) == ("no", [])
    both = ReplyVerdict(True, text="ok", calls=[])
    changed = change_reply(response, both).result[0]
    assert isinstance(changed, AIMessage)
    assert (changed.content, changed.tool_calls) == ("ok", [])


def test_a_structured_reply_is_parsed_again() -> None:
    """The object follows the text, or the reply is refused."""
    response: ModelResponse[Any] = ModelResponse(
        result=[AIMessage('{"degrees": 30}')], structured_response=Weather(degrees=30)
    )
    changed = change_reply(response, ReplyVerdict(True, text='{"degrees": 20}'))
    assert changed.structured_response == Weather(degrees=20)
    spoiled = change_reply(response, ReplyVerdict(True, text="hot"))
    assert spoiled.structured_response is None
    assert "left no Weather" in str(spoiled.result[0].content)


def test_a_call_that_is_the_answer_cannot_be_changed() -> None:
    """LangChain has read it already; the text beside it can."""
    call = ToolCall(name="Weather", args={"degrees": 30}, id="1", type="tool_call")
    answered = ToolMessage("Returning", tool_call_id="1")
    response: ModelResponse[Any] = ModelResponse(
        result=[AIMessage("so", tool_calls=[call]), answered],
        structured_response=Weather(degrees=30),
    )
    other = [{"id": "1", "name": "Weather", "arguments": {"degrees": 20}}]
    refused = change_reply(response, ReplyVerdict(True, calls=other))
    assert refused.structured_response is None
    assert len(refused.result) == 1
    kept = change_reply(response, ReplyVerdict(True, text="then"))
    assert kept.structured_response == Weather(degrees=30)
    assert kept.result[0].content == "then"
    assert kept.result[1] is answered


def test_a_failed_request_in_our_words() -> None:
    """What and why."""
    told = describe_failure("x", ConnectionError("no route"))
    assert told["error"]["type"] == "ConnectionError"
    assert "no route" in told["error"]["message"]
