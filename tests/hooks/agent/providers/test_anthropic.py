"""provider-anthropic: what the Messages protocol asks for that others do not."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core import llm_errors
from amplifier_core.message_models import (
    ChatRequest,
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    TextBlock,
    ThinkingBlock,
)
from amplifier_hooks.agent.providers.anthropic import AnthropicConfig, Messages
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
    BASH,
    MESSAGES,
    fetch_reply,
    make_request,
    serve_script,
)


def sent(history: list[Message], **config: Any) -> dict[str, Any]:
    request = ChatRequest(messages=history, tools=[BASH])
    return Messages().build_params(request, AnthropicConfig(**config), None)


def test_leading_system_messages_stay_outside_the_turns():
    """This protocol has a field of its own for them."""
    body = sent([say_as_system("Be kind."), say_as_system("Be brief."), say_as_user("Hi")])
    assert body["system"] == "Be kind.\n\nBe brief."
    assert [message["role"] for message in body["messages"]] == ["user"]


def test_a_conversation_that_begins_with_a_reply_gets_a_beginning():
    """Anthropic's first message is the user's."""
    body = sent([say_as_system("S"), call_tools("a"), show_result("a")])
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user"]
    assert sent([say_as_system("Only a system message")])["messages"][0]["role"] == "user"


def test_blank_text_is_left_out():
    """Servers refuse empty text blocks."""
    reply = Message(role="assistant", content=[TextBlock(text=" \n"), TextBlock(text="Yes. ")])
    body = sent([say_as_user("Go"), say_as_user("  "), reply])
    assert body["messages"][0]["content"] == [{"type": "text", "text": "Go"}]
    assert body["messages"][1]["content"] == [{"type": "text", "text": "Yes."}]


def test_ids_of_other_providers_are_made_fit():
    """A conversation may have begun with another provider."""
    history = [say_as_user("Go"), call_tools("call:1/ä"), show_result("call:1/ä")]
    _, call, answer = sent(history)["messages"]
    assert call["content"][0]["id"] == answer["content"][0]["tool_use_id"] == "call_1__"


def test_thinking_of_another_provider_is_not_sent():
    """A signature is good only for the server that gave it."""
    ours = ThinkingBlock(thinking="Hm.", signature="s")
    theirs = ThinkingBlock.model_validate(
        {"thinking": "Hm.", "signature": "sealed", "item_id": "rs_1"}
    )
    unsigned = ThinkingBlock(thinking="Hm.")
    hidden = ThinkingBlock.model_validate({"thinking": "", "redacted": "xyz"})
    reply = Message(role="assistant", content=[ours, theirs, unsigned, hidden, TextBlock(text="A")])
    content = sent([say_as_user("Go"), reply, say_as_user("?")])["messages"][1]["content"]
    assert [block["type"] for block in content] == ["thinking", "redacted_thinking", "text"]
    request = ChatRequest(messages=[say_as_user("Go"), reply, say_as_user("?")])
    items = Responses().build_params(request, RemoteConfig(), None)["input"]
    assert [item.get("encrypted_content") for item in items] == [None, "sealed", None, None]


def test_what_other_loops_store_goes_back_in_the_words_of_this_server():
    """Hidden thinking as it came, pictures as they are; reasoning of others stays here."""
    source = {"type": "base64", "media_type": "image/png", "data": "aGk="}
    blocks: list[Any] = [RedactedThinkingBlock(data="xyz"), ReasoningBlock(content=[], summary=[])]
    history = [
        Message(role="user", content=[ImageBlock(source=source)]),
        Message(role="assistant", content=[*blocks, TextBlock(text="Yes")]),
        say_as_user("?"),
    ]
    user, spoken, _ = sent(history)["messages"]
    assert user["content"] == [{"type": "image", "source": source}]
    assert spoken["content"] == [
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "Yes"},
    ]


def test_the_beginning_of_a_conversation_is_cached_where_that_is_known_to_work():
    """The vendor keeps the beginning of a conversation; other servers may not know the word."""
    request = ChatRequest(messages=[say_as_user("Hi")])

    def cached(base_url: str | None, **config: Any) -> bool:
        params = Messages().build_params(request, AnthropicConfig(**config), base_url)
        return params["cache_control"] is not None

    assert cached(None)
    assert not cached("http://localhost")
    assert cached("http://localhost", prompt_cache=True)
    assert not cached(None, prompt_cache=False)


async def test_thinking_goes_back_with_its_signature_unchanged(way):
    """The server refuses a thought whose signature is not exactly its own."""
    script = [{"thinking": "Hm. Hm.", "signature": "s1gn+/=", "text": "x"}, {}]
    async with serve_script(MESSAGES, script) as (provider, server):
        first = await fetch_reply(provider, make_request(tools=[BASH]), way)
        assert first.content[0] == ThinkingBlock(thinking="Hm. Hm.", signature="s1gn+/=")
        history = [*make_request().messages, Message(role="assistant", content=first.content)]
        await provider.complete(ChatRequest(messages=history, tools=[BASH]))
    sent = server.requests[1].body["messages"][1]["content"][0]
    assert sent == {"type": "thinking", "thinking": "Hm. Hm.", "signature": "s1gn+/="}


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
    async with answer_with(MESSAGES, whole, events) as provider:
        reply = await fetch_reply(provider, make_request(), way)
    assert (reply.text, reply.finish_reason) == ("x", "new")


async def test_hidden_thinking_is_kept():
    """Redacted thinking has nothing to read, but must go back."""
    whole = {
        "content": [{"type": "redacted_thinking", "data": "xyz"}, {"type": "text", "text": "x"}]
    }
    async with answer_with(MESSAGES, whole, []) as provider:
        reply = await provider.complete(make_request())
    assert reply.content[0].model_extra == {"redacted": "xyz"}


async def test_a_refusal_of_the_model_is_an_error(way):
    """A reply that ends with a refusal is none."""
    script = [{"text": "I", "finish_reason": "refusal"}]
    async with serve_script(MESSAGES, script) as (provider, _):
        with pytest.raises(llm_errors.ContentFilterError, match="refused to answer"):
            await fetch_reply(provider, make_request(), way)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("stop_sequence", "stop"), ("model_context_window_exceeded", "length"), ("new", "new")],
)
async def test_reasons_to_stop_have_one_name_each(way, said, meant):
    """A loop need not know the words of each vendor; unknown ones are passed on."""
    async with serve_script(MESSAGES, [{"text": "x", "finish_reason": said}]) as (provider, _):
        assert (await fetch_reply(provider, make_request(), way)).finish_reason == meant


def test_a_limit_is_always_sent():
    """This server refuses a request without one."""
    request = ChatRequest(messages=[say_as_user("Hi")])
    assert Messages().build_params(request, AnthropicConfig(), None)["max_tokens"] == 8192


def test_a_result_without_output_says_so():
    """This server refuses empty content."""
    history = [say_as_user("Go"), call_tools("a"), show_result("a", "")]
    assert sent(history)["messages"][2]["content"][0]["content"] == "(no output)"
