"""Servers that are nearly compatible: what they do their own way is no reason to fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import ThinkingBlock
from tests.foundation.providers.mounting import (
    CHAT,
    MESSAGES,
    RESPONSES,
    Protocol,
    asking,
    mounted,
    replied,
)


@asynccontextmanager
async def answering(protocol: Protocol, whole: Any, events: list[Any]) -> AsyncIterator[Any]:
    """A provider whose server always gives this answer, as it is."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        body = await reader.readexactly(int(head.split("content-length:")[1].split()[0]))
        streams = json.loads(body).get("stream")
        kind = "text/event-stream" if streams else "application/json"
        content = _events(events) if streams else json.dumps(whole).encode()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n".encode())
        writer.write(f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode())
        writer.write(content)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        settings = {"base_url": url, "api_key": "k", **protocol.options}
        async with mounted(protocol.module, settings) as provider:
            yield provider


def _events(events: list[Any]) -> bytes:
    text = "".join(f"event: {e.get('type', 'message')}\ndata: {json.dumps(e)}\n\n" for e in events)
    return f"{text}data: [DONE]\n\n".encode()


async def test_a_chat_server_may_leave_out_what_is_not_needed(way):
    """Any compatible base URL: ids, usage, model and index may be missing, arguments an object."""
    call = {"function": {"name": "Bash", "arguments": {"command": "ls"}}}
    whole = {"choices": [{"message": {"content": "x", "tool_calls": [call]}}]}
    events = [
        {"choices": [{"delta": {"content": "x"}}]},
        {"choices": [{"delta": {"tool_calls": [call]}}]},
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ]
    async with answering(CHAT, whole, events) as provider:
        reply = await replied(provider, asking(), way)
    (found,) = provider.parse_tool_calls(reply)
    assert (reply.text, found.name, found.arguments) == ("x", "Bash", {"command": "ls"})
    assert found.id.startswith("call_")
    assert way == "whole" or reply.finish_reason == "tool_calls"


async def test_calls_with_one_id_are_told_apart():
    """Some servers give every call of a reply the same id."""
    call = {"id": "call_0", "function": {"name": "Bash", "arguments": "{}"}}
    whole = {"choices": [{"message": {"tool_calls": [call, call]}, "finish_reason": "stop"}]}
    async with answering(CHAT, whole, []) as provider:
        reply = await provider.complete(asking())
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
    async with answering(CHAT, whole, events) as provider:
        reply = await replied(provider, asking(), way)
    assert [block.type for block in reply.content] == ["thinking", "text"]


@pytest.mark.parametrize("whole", [{"choices": None}, [], "x", {}])
async def test_an_answer_of_another_kind_is_an_error_not_a_crash(protocol, whole):
    """What cannot be read is one of our errors, and is not tried again."""
    async with answering(protocol, whole, []) as provider:
        with pytest.raises(llm_errors.LLMError) as caught:
            await provider.complete(asking())
        assert not caught.value.retryable
        with pytest.raises(llm_errors.StreamBrokenError):
            await replied(provider, asking(), "streamed")


async def test_an_error_with_status_200_is_an_error(way):
    """Some gateways report a failure as a success."""
    error = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    async with answering(CHAT, error, [error]) as provider:
        with pytest.raises(llm_errors.RateLimitError, match="slow down"):
            await replied(provider, asking(), way)


async def test_blocks_of_a_new_kind_are_passed_over(way):
    """A protocol grows; what is not known is left out."""
    whole = {"content": [{"type": "odd"}, {"type": "text", "text": "x"}], "stop_reason": "new"}
    start = {"type": "message_start", "message": {"content": []}}
    odd = {"type": "content_block_start", "index": 0, "content_block": {"type": "odd"}}
    text = {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "text", "text": "x"},
    }
    end = {"type": "message_delta", "delta": {"stop_reason": "new"}, "usage": {"output_tokens": 1}}
    events = [start, odd, text, {"type": "brand_new"}, end, {"type": "message_stop"}]
    async with answering(MESSAGES, whole, events) as provider:
        reply = await replied(provider, asking(), way)
    assert (reply.text, reply.finish_reason) == ("x", "new")


async def test_hidden_thinking_is_kept():
    """Redacted thinking has nothing to read, but must go back."""
    whole = {
        "content": [{"type": "redacted_thinking", "data": "xyz"}, {"type": "text", "text": "x"}]
    }
    async with answering(MESSAGES, whole, []) as provider:
        reply = await provider.complete(asking())
    assert reply.content[0].model_extra == {"redacted": "xyz"}


async def test_a_response_that_failed_is_its_error(way):
    """Responses can fail inside a success."""
    error = {"code": "rate_limit_exceeded", "message": "slow down"}
    failed = {"status": "failed", "error": error, "output": []}
    events = [{"type": "response.failed", "response": failed}]
    async with answering(RESPONSES, failed, events) as provider:
        with pytest.raises(llm_errors.RateLimitError, match="slow down"):
            await replied(provider, asking(), way)


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
    async with answering(RESPONSES, {}, events) as provider:
        reply = await replied(provider, asking(), "streamed")
    (block,) = reply.content
    assert isinstance(block, ThinkingBlock)
    assert block.thinking == "One\n\nTwo!"
