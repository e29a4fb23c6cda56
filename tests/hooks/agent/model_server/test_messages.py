"""The Messages protocol: what it refuses, and replies that Anthropic's SDK understands."""

from __future__ import annotations

from typing import Any

import anthropic
import pytest

from amplifier_hooks.agent.model_server import Failure, ModelServer, Reply, ScriptedCall, messages
from amplifier_hooks.agent.model_server.exchange import Exchange, Malformed
from amplifier_hooks.agent.providers.conversation import build_usage
from tests.hooks.agent.model_server.wire import (
    RESULT,
    TEXT,
    USER,
    USES,
    read_events,
    send_bytes,
    write_body,
    write_post,
)

ANSWER = {"role": "user", "content": [RESULT]}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ({"messages": [USER]}, "max_tokens"),
        ({"max_tokens": 1, "messages": []}, "at least one message"),
        ({"max_tokens": 1, "messages": [{"role": "assistant", "content": "x"}]}, "first message"),
        (write_body(USER, {"role": "robot", "content": "x"}), "unexpected role"),
        (write_body(USER, {"role": "assistant", "content": []}), "non-empty content"),
        (write_body({"role": "user", "content": " "}), "must be non-empty"),
        (write_body(USER, USES), "need `tool_result`"),
        (write_body(USER, USES, USER), "need `tool_result`"),
        (write_body(USER, ANSWER), "unexpected"),
        (write_body(USER, USES, {"role": "user", "content": [TEXT, RESULT]}), "must come first"),
    ],
)
async def test_a_request_that_the_real_server_refuses_is_refused(
    body: dict[str, Any], problem: str
) -> None:
    """A conversion that would fail in earnest fails in the tests."""
    async with ModelServer([]) as server:
        answer = await send_bytes(server, write_post(messages.PATH, body))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"invalid_request_error" in answer
    assert problem in answer.decode()


def test_a_right_conversation_has_no_problem() -> None:
    """A call and its result, with text behind it."""
    said = {"role": "user", "content": [RESULT, TEXT]}
    assert messages.find_problem(write_body(USER, USES, said)) is None


@pytest.mark.parametrize(
    ("message", "field"),
    [
        ("text", "messages.1"),
        ({"role": ["user"], "content": "x"}, "role"),
        ({"role": "user", "content": 7}, "content"),
        ({"role": "user", "content": ["x"]}, "content.0"),
        ({"role": "user", "content": [{"type": {}}]}, "type"),
        ({"role": "user", "content": [{"type": "text"}]}, "text"),
        ({"role": "assistant", "content": [{"type": "tool_use", "id": []}]}, "id"),
    ],
)
def test_a_field_of_another_type_is_named(message: object, field: str) -> None:
    """Every field may hold any JSON; the answer says which one is wrong."""
    with pytest.raises(Malformed, match=rf"'{field}'"):
        messages.find_problem(write_body(USER, message))


def test_usage_leaves_the_cache_out_of_the_input() -> None:
    """This vendor counts what comes from the cache beside the input, not in it."""
    usage = build_usage(
        input_tokens=100, output_tokens=5, cache_read_tokens=60, cache_write_tokens=10
    )
    written = messages.write_reply(Exchange(Reply(text="x", usage=usage), 1, {}))["usage"]
    assert (written["input_tokens"], written["output_tokens"]) == (30, 5)
    assert (written["cache_read_input_tokens"], written["cache_creation_input_tokens"]) == (60, 10)


def test_events_are_the_reply_in_pieces() -> None:
    """The deltas of a stream, put together, are the blocks of the whole reply."""
    call = ScriptedCall(name="Bash", input={"command": "ls -l"})
    exchange = Exchange(Reply(thinking="Hm.", text="Let me see.", tool_calls=(call,)), 3, {})
    events = read_events(b"".join(messages.write_events(exchange)))
    deltas = [event["delta"] for event in events if event["type"] == "content_block_delta"]
    assert "".join(d.get("text", "") for d in deltas) == "Let me see."
    assert "".join(d.get("thinking", "") for d in deltas) == "Hm."
    assert "".join(d.get("partial_json", "") for d in deltas) == '{"command": "ls -l"}'
    kinds = [event["type"] for event in events]
    assert (kinds[0], kinds[-1]) == ("message_start", "message_stop")
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 3
    whole = messages.write_reply(exchange)
    assert whole["stop_reason"] == "tool_use"
    assert whole["content"][2]["input"] == {"command": "ls -l"}


def test_arguments_that_are_no_json_are_sent_as_they_are() -> None:
    """A script may have the model write nonsense."""
    call = ScriptedCall(name="Bash", arguments='{"command')
    reply = messages.write_reply(Exchange(Reply(tool_calls=(call,)), 1, {}))
    assert reply["content"][0]["input"] == '{"command'


@pytest.mark.parametrize(
    ("kind", "words"),
    [("context_length", "prompt is too long"), ("content_filter", "content_filter policy")],
)
def test_errors_that_have_no_status_of_their_own_have_their_words(kind: Any, words: str) -> None:
    """Clients tell them by what they say, unless the script says something else."""
    status, body = messages.write_error(Failure(type=kind))
    assert (status, body["error"]["type"]) == (400, "invalid_request_error")
    assert words in body["error"]["message"]
    other = messages.write_error(Failure(type=kind, message="other"))[1]
    assert other["error"]["message"] == "other"
    assert read_events(messages.write_error_event(Failure(type=kind))) == [body]


async def test_the_sdks_own_helper_understands_the_stream() -> None:
    """Its accumulator, which we do not use, agrees with what the server says."""
    line = {"thinking": "Hm.", "text": "Look.", "tool_calls": [{"name": "B", "input": {"a": 1}}]}
    question: Any = {"messages": [USER], "model": "m", "max_tokens": 9}
    async with (
        ModelServer([line]) as server,
        anthropic.AsyncAnthropic(api_key="k", base_url=server.url) as client,
        client.messages.stream(**question) as stream,
    ):
        message = await stream.get_final_message()
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use"]
    assert message.model_dump()["content"][2]["input"] == {"a": 1}
