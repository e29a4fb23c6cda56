"""Chat Completions: OpenAI, and the many servers that are nearly compatible with it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ToolSpec,
)
from amplifier_hooks.agent.providers.openai import Chat
from amplifier_hooks.agent.providers.remote import RemoteConfig
from tests.hooks.agent.providers.histories import (
    call_tools,
    say_as_user,
    show_result,
)
from tests.hooks.agent.providers.nearly_compatible import answer_with
from tests.support.models import (
    CHAT,
    fetch_reply,
    make_request,
    serve_script,
)


async def test_a_chat_server_may_leave_out_what_is_not_needed(way):
    """Any compatible base URL: ids, usage, model and index may be missing, arguments an object."""
    call = {"function": {"name": "Bash", "arguments": {"command": "ls"}}}
    whole = {"choices": [{"message": {"content": "x", "tool_calls": [call]}}]}
    events = [
        {"choices": [{"delta": {"content": "x"}}]},
        {"choices": [{"delta": {"tool_calls": [call]}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ]
    async with answer_with(CHAT, whole, events) as provider:
        reply = await fetch_reply(provider, make_request(), way)
    (found,) = provider.parse_tool_calls(reply)
    assert (reply.text, found.name, found.arguments) == ("x", "Bash", {"command": "ls"})
    assert found.id.startswith("call_")
    assert way == "whole" or reply.finish_reason == "tool_calls"


async def test_calls_with_one_id_are_told_apart():
    """Some servers give every call of a reply the same id."""
    call = {"id": "call_0", "function": {"name": "Bash", "arguments": "{}"}}
    whole = {"choices": [{"message": {"tool_calls": [call, call]}, "finish_reason": "stop"}]}
    async with answer_with(CHAT, whole, []) as provider:
        reply = await provider.complete(make_request())
    one, two = provider.parse_tool_calls(reply)
    assert one.id == "call_0" != two.id
    assert [block.id for block in reply.content] == [one.id, two.id]


async def test_thinking_of_open_models_is_thinking(way):
    """`reasoning` and `reasoning_content` arrive as thinking."""
    whole = {"choices": [{"message": {"content": "4", "reasoning": "2+2"}}]}
    events = [
        {"choices": [{"delta": {"reasoning": "2+2"}}]},
        {"choices": [{"delta": {"content": "4"}, "finish_reason": "stop"}]},
    ]
    async with answer_with(CHAT, whole, events) as provider:
        reply = await fetch_reply(provider, make_request(), way)
    assert [block.type for block in reply.content] == ["thinking", "text"]


async def test_an_error_with_status_200_is_an_error(way):
    """Some gateways report a failure as a success."""
    error = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    async with answer_with(CHAT, error, [error]) as provider:
        with pytest.raises(llm_errors.RateLimitError, match="slow down"):
            await fetch_reply(provider, make_request(), way)


async def test_a_reply_that_the_filter_stopped_is_an_error(way):
    """Half a reply must not be taken for one."""
    script = [{"text": "I", "finish_reason": "content_filter"}]
    async with serve_script(CHAT, script) as (provider, _):
        with pytest.raises(llm_errors.ContentFilterError):
            await fetch_reply(provider, make_request(), way)


def write(history: list[Message], base_url: str | None = None, **fields: Any) -> dict[str, Any]:
    request = ChatRequest(messages=history, **fields)
    return Chat().build_params(request, RemoteConfig(model="m", max_output_tokens=9), base_url)


def test_the_limit_is_called_as_each_server_knows_it():
    """OpenAI has a new name for it; compatible servers know the old one."""
    history = [say_as_user("Hi")]
    assert write(history)["max_completion_tokens"] == 9
    assert write(history, "http://localhost/v1")["max_tokens"] == 9


def test_calls_and_results_are_messages_of_their_own():
    """Arguments are text, and a result names its call."""
    history = [say_as_user("Go"), call_tools("a", text="Look."), show_result("a", "ü")]
    _, call, result = write(history)["messages"]
    assert call["content"] == "Look."
    function = {"name": "Bash", "arguments": '{"n": "a"}'}
    assert call["tool_calls"] == [{"id": "a", "type": "function", "function": function}]
    assert result == {"role": "tool", "tool_call_id": "a", "content": "ü"}


def test_pictures_stand_beside_the_words():
    """With a picture the content is a list; without words the picture is all there is."""
    picture = ImageBlock(source={"url": "u"})
    part = {"type": "image_url", "image_url": {"url": "u"}}
    (both,) = write([Message(role="user", content=[TextBlock(text="See"), picture])])["messages"]
    assert both["content"] == [{"type": "text", "text": "See"}, part]
    (alone,) = write([Message(role="user", content=[picture])])["messages"]
    assert alone == {"role": "user", "content": [part]}


def test_a_tool_without_a_description_or_properties_can_be_offered():
    """Servers insist on an object schema, and not on a description."""
    (tool,) = write([say_as_user("Hi")], tools=[ToolSpec(name="Bare", parameters={})])["tools"]
    assert tool["function"] == {"name": "Bare", "parameters": {"type": "object", "properties": {}}}
