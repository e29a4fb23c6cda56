"""Responses: failures inside a success, reasoning in parts, a history that travels each time."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
)
from amplifier_hooks.agent.providers.openai import Responses
from amplifier_hooks.agent.providers.remote import RemoteConfig
from tests.hooks.agent.providers.histories import (
    call_tools,
    say_as_system,
    say_as_user,
    show_result,
)
from tests.hooks.agent.providers.nearly_compatible import answer_with
from tests.support.models import (
    RESPONSES,
    fetch_reply,
    make_request,
    serve_script,
)


async def test_a_response_that_failed_is_its_error(way):
    """Responses can fail inside a success."""
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    failed = {"status": "failed", "error": error, "output": []}
    events = [{"type": "response.failed", "response": failed}]
    async with answer_with(RESPONSES, failed, events) as provider:
        with pytest.raises(llm_errors.RateLimitError, match="slow down"):
            await fetch_reply(provider, make_request(), way)


async def test_summaries_in_parts_are_one_thought():
    """Parts of a reasoning summary are paragraphs of one block of thinking."""
    item = {"type": "reasoning", "id": "rs", "summary": []}
    name = "response.reasoning_summary_text.delta"
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        {"type": name, "output_index": 0, "summary_index": 0, "delta": "One"},
        {"type": name, "output_index": 0, "summary_index": 1, "delta": "Two"},
        {"type": name, "output_index": 0, "summary_index": 1, "delta": "!"},
        {"type": "response.completed", "response": {"output": [], "status": "completed"}},
    ]
    async with answer_with(RESPONSES, {}, events) as provider:
        reply = await fetch_reply(provider, make_request(), "streamed")
    (block,) = reply.content
    assert isinstance(block, ThinkingBlock)
    assert block.thinking == "One\n\nTwo!"


def write(history: list[Message], base_url: str | None = None) -> dict[str, Any]:
    return Responses().build_params(ChatRequest(messages=history), RemoteConfig(), base_url)


def test_a_conversation_is_a_list_of_items():
    """Words, calls and their outputs stand beside one another; nothing is stored at the server."""
    history = [
        say_as_system("Be kind."),
        say_as_user("Go"),
        call_tools("a", text="Look."),
        show_result("a", "files"),
    ]
    params = write(history)
    assert (params["instructions"], params["store"]) == ("Be kind.", False)
    assert params["input"] == [
        {"role": "user", "content": "Go"},
        {"role": "assistant", "content": "Look."},
        {"type": "function_call", "call_id": "a", "name": "Bash", "arguments": '{"n": "a"}'},
        {"type": "function_call_output", "call_id": "a", "output": "files"},
    ]


def test_a_picture_is_an_item_of_its_own():
    """Between the words before it and after it."""
    said: list[Any] = [TextBlock(text="See"), ImageBlock(source={"url": "u"})]
    assert write([Message(role="user", content=said)])["input"] == [
        {"role": "user", "content": "See"},
        {"role": "user", "content": [{"type": "input_image", "image_url": "u"}]},
    ]


async def test_sealed_reasoning_goes_back_as_it_came(way):
    """The model gets its own thoughts back, with the seal that proves them."""
    script = [{"thinking": "Hm.", "signature": "sealed", "text": "One."}, {"text": "Two."}]
    async with serve_script(RESPONSES, script) as (provider, server):
        first = await fetch_reply(provider, make_request(), way)
        history = [*make_request().messages, Message(role="assistant", content=first.content)]
        await provider.complete(ChatRequest(messages=[*history, say_as_user("More")]))
    item = server.requests[1].body["input"][1]
    assert (item["type"], item["encrypted_content"]) == ("reasoning", "sealed")
    assert item["summary"] == [{"type": "summary_text", "text": "Hm."}]


async def test_a_reply_that_the_filter_stopped_is_an_error(way):
    """Half a reply must not be taken for one."""
    script = [{"text": "I", "finish_reason": "content_filter"}]
    async with serve_script(RESPONSES, script) as (provider, _):
        with pytest.raises(llm_errors.ContentFilterError):
            await fetch_reply(provider, make_request(), way)


async def test_an_answer_without_usage_and_model_is_a_reply():
    """Compatible servers leave out what is not needed."""
    part = {"type": "output_text", "text": "x"}
    message = {"type": "message", "content": [part, {"type": "refusal", "refusal": "y"}]}
    whole = {"status": "completed", "output": [message]}
    async with answer_with(RESPONSES, whole, []) as provider:
        reply = await provider.complete(make_request())
    assert ([block.text for block in reply.content], reply.usage) == (["x", "y"], None)
