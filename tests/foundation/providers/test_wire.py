"""The real SDKs against the model server: replies, streams, tool calls, usage."""

from __future__ import annotations

import asyncio
from itertools import groupby
from typing import Any

import pytest

from amplifier_core.interfaces import Provider, StreamingProvider
from amplifier_core.message_models import ChatRequest, Message, TextBlock, ThinkingBlock
from tests.foundation.providers.mounting import (
    BASH,
    MESSAGES,
    asking,
    mounted,
    playing,
    replied,
    streamed,
)

TWO_CALLS: dict[str, Any] = {
    "text": "Let me look.",
    "tool_calls": [
        {"name": "Bash", "input": {"command": "ls"}},
        {"name": "Bash", "input": {"command": "git status --short", "größe": 'ä\n"x"'}},
    ],
}


async def test_a_provider_fulfils_the_protocols_of_the_kernel(protocol):
    """Providers implement `Provider` and `StreamingProvider` and are mounted by their name."""
    async with playing(protocol, []) as (provider, _):
        assert isinstance(provider, Provider)
        assert isinstance(provider, StreamingProvider)
        assert provider.name == "model"


async def test_a_reply_arrives_whole_and_streamed_alike(protocol, way):
    """`complete` and the last chunk of `stream` carry the same complete response."""
    script = [{"text": "Hello, dear  world!\nHow are you? "}]
    async with playing(protocol, script) as (provider, server):
        reply = await replied(provider, asking(), way)
    assert reply.text == script[0]["text"]
    assert reply.content == [TextBlock(text=script[0]["text"])]
    assert reply.tool_calls is None
    assert reply.finish_reason == "stop"
    assert bool(server.requests[0].body.get("stream")) == (way == "streamed")
    assert server.requests[0].path == protocol.path


async def test_blocks_open_grow_and_close_in_order(protocol):
    """Blocks open, grow and close, one at a time, and the response comes last."""
    script = [{"thinking": "I think so.", "text": "It is so.", **TWO_CALLS}]
    async with playing(protocol, script) as (provider, _):
        chunks, _ = await streamed(provider, asking(tools=[BASH]))
    assert [c.kind for c in chunks].count("response") == 1
    assert chunks[-1].kind == "response"
    for index, group in groupby(chunks[:-1], key=lambda chunk: chunk.index):
        block = list(group)
        assert (block[0].kind, block[-1].kind) == ("block_start", "block_end"), index
        assert {chunk.block_type for chunk in block} == {block[0].block_type}
    text = "".join(chunk.text for chunk in chunks if chunk.kind == "text")
    thinking = "".join(chunk.text for chunk in chunks if chunk.kind == "thinking")
    assert (thinking, text) == ("I think so.", "Let me look.")
    kinds = [chunk.block_type for chunk in chunks if chunk.kind == "block_start"]
    assert kinds == ["thinking", "text", "tool_call", "tool_call"]


async def test_parallel_tool_calls_keep_their_order_and_input(protocol, way):
    """Parallel tool calls of one reply keep the model's order."""
    async with playing(protocol, [TWO_CALLS]) as (provider, server):
        reply = await replied(provider, asking(tools=[BASH]), way)
    calls = provider.parse_tool_calls(reply)
    assert [call.name for call in calls] == ["Bash", "Bash"]
    assert [call.arguments for call in calls] == [c["input"] for c in TWO_CALLS["tool_calls"]]
    assert [call.id for call in calls] == [f"{protocol.prefix}_1_1", f"{protocol.prefix}_1_2"]
    assert reply.finish_reason == "tool_calls"
    assert "Run a command." in str(server.requests[0].body["tools"])


async def test_results_of_tools_go_back_in_a_second_turn(protocol, way):
    """A tool call round trip of two turns, with parallel calls whose results come out of order."""
    script = [TWO_CALLS, {"text": "Two files.", "expect": "a.txt"}]
    async with playing(protocol, script) as (provider, server):
        history = [Message(role="user", content="What is here?")]
        first = await replied(provider, ChatRequest(messages=history, tools=[BASH]), way)
        one, two = provider.parse_tool_calls(first)
        history += [
            Message(role="assistant", content=first.content, tool_calls=first.tool_calls),
            Message(role="tool", tool_call_id=two.id, content="M b.txt"),
            Message(role="tool", tool_call_id=one.id, content="a.txt b.txt"),
        ]
        second = await replied(provider, ChatRequest(messages=history, tools=[BASH]), way)
    assert second.text == "Two files."
    body = str(server.requests[1].body)
    assert body.index("a.txt b.txt") < body.index("M b.txt")


async def test_thinking_goes_back_with_its_signature_unchanged(way):
    """ThinkingBlock signatures go back unchanged."""
    script = [{"thinking": "Hm. Hm.", "signature": "s1gn+/=", **TWO_CALLS}, {"text": "Done."}]
    async with playing(MESSAGES, script) as (provider, server):
        first = await replied(provider, asking(tools=[BASH]), way)
        assert first.content[0] == ThinkingBlock(thinking="Hm. Hm.", signature="s1gn+/=")
        history = [*asking().messages, Message(role="assistant", content=first.content)]
        await provider.complete(ChatRequest(messages=history, tools=[BASH]))
    sent = server.requests[1].body["messages"][1]["content"][0]
    assert sent == {"type": "thinking", "thinking": "Hm. Hm.", "signature": "s1gn+/="}


async def test_usage_counts_the_cache_as_part_of_the_input(protocol, way):
    """Usage incl. cache tokens; the cache figures are parts of input_tokens."""
    usage = {"input_tokens": 100, "output_tokens": 20, "cache_read_tokens": 60}
    async with playing(protocol, [{"text": "Hi.", "usage": usage}]) as (provider, _):
        reply = await replied(provider, asking(), way)
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (100, 20)
    assert (reply.usage.total_tokens, reply.usage.cache_read_tokens) == (120, 60)


async def test_what_a_request_asks_for_is_sent(protocol):
    """Model, temperature and limits of the request win over those of the config."""
    config = {"model": "small", "temperature": 1.0, "max_output_tokens": 5, "extra": {"top_p": 0.5}}
    async with playing(protocol, [{}, {}], config) as (provider, server):
        await provider.complete(asking())
        await provider.complete(asking(model="big", temperature=0.0, max_output_tokens=7))
    first, second = (received.body for received in server.requests)
    limit = next(key for key in first if key.startswith("max_"))
    assert (first["model"], first["temperature"], first[limit]) == ("small", 1.0, 5)
    assert (second["model"], second["temperature"], second[limit]) == ("big", 0.0, 7)
    assert first["top_p"] == second["top_p"] == 0.5


@pytest.mark.parametrize("choice", ["auto", "none", "required", "any", "Bash", None])
async def test_the_choice_of_tools_is_said_in_each_protocol(protocol, choice):
    """`tool_choice` is auto, none, required (or any), or the name of a tool."""
    async with playing(protocol, [{}]) as (provider, server):
        await provider.complete(asking(tools=[BASH], tool_choice=choice))
    sent = server.requests[0].body.get("tool_choice")
    must = "any" if protocol is MESSAGES else "required"
    word = {"any": must, "required": must}.get(choice or "", choice)
    if choice == "Bash":
        assert sent["type"] in {"tool", "function"}
        assert "Bash" in str(sent)
    else:
        assert sent == ({"type": word} if word and protocol is MESSAGES else word)


async def test_a_choice_without_tools_is_not_sent(protocol):
    """Servers refuse a choice among no tools."""
    async with playing(protocol, [{}]) as (provider, server):
        await provider.complete(asking(tool_choice="auto"))
    assert not {"tools", "tool_choice"} & set(server.requests[0].body)


async def test_an_empty_reply_is_a_reply(protocol, way):
    """A model may say nothing; that is not an error."""
    async with playing(protocol, [{}]) as (provider, _):
        reply = await replied(provider, asking(), way)
    assert reply.content == []
    assert reply.text == ""
    assert provider.parse_tool_calls(reply) == []


async def test_malformed_arguments_become_a_parse_error(protocol, way):
    """Malformed tool arguments become ToolCall(arguments={}, parse_error=…), not an exception."""
    calls = [
        {"name": "Bash", "arguments": '{"command": "ls'},
        {"name": "Bash", "arguments": '["ls"]'},
        {"name": "Bash", "input": {"command": "ls"}},
    ]
    async with playing(protocol, [{"tool_calls": calls}]) as (provider, _):
        reply = await replied(provider, asking(tools=[BASH]), way)
    cut, wrong, good = provider.parse_tool_calls(reply)
    assert cut.arguments == wrong.arguments == {}
    assert '{"command": "ls' in cut.parse_error
    assert "JSON object" in wrong.parse_error
    assert good.parse_error is None
    assert good.arguments == {"command": "ls"}


async def test_a_call_of_an_unknown_tool_is_passed_on(protocol, way):
    """Which tools exist is the loop's business: the provider hands over what the model wrote."""
    script = [{"tool_calls": [{"name": "Wirte", "input": {"a": 1}}]}]
    async with playing(protocol, script) as (provider, _):
        reply = await replied(provider, asking(tools=[BASH]), way)
    assert [call.name for call in provider.parse_tool_calls(reply)] == ["Wirte"]


async def test_many_requests_run_at_once(protocol):
    """Nothing of one request leaks into another on the same provider."""
    script = [{"text": f"Reply {n}", "delay": 0.05} for n in range(20)]
    async with playing(protocol, script) as (provider, _):
        async with asyncio.timeout(20):
            replies = await asyncio.gather(*(provider.complete(asking()) for _ in range(20)))
    assert {reply.text for reply in replies} == {line["text"] for line in script}


async def test_settings_come_from_the_usual_environment_variables(monkeypatch):
    """Keys from config, or the usual environment variables."""
    async with playing(MESSAGES, [{"text": "Hi."}], api_key="secret-1") as (_, server):
        monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-1")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        async with mounted(MESSAGES.module) as provider:
            assert provider.name == "anthropic"
            assert (await provider.complete(asking())).text == "Hi."
