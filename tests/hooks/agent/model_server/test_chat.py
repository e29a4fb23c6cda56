"""The Chat Completions protocol: what it refuses, and replies that OpenAI's SDK understands."""

from __future__ import annotations

from typing import Any

import openai
import pytest

from amplifier_hooks.agent.model_server import Failure, ModelServer, Reply, ScriptedCall, chat
from amplifier_hooks.agent.model_server.exchange import Exchange, Malformed
from tests.hooks.agent.model_server.wire import (
    CALLS,
    USER,
    read_events,
    send_bytes,
    write_body,
    write_post,
)

ANSWER = {"role": "tool", "tool_call_id": "a", "content": "x"}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (["no object"], "messages"),
        ({"messages": []}, "too short"),
        ({"messages": ["text"]}, "malformed"),
        (write_body(ANSWER), "role 'tool'"),
        (write_body(USER, CALLS, ANSWER, {**ANSWER, "tool_call_id": "b"}), "role 'tool'"),
        (write_body({"role": "robot"}), "Invalid value"),
        (write_body({"role": "user", "content": ""}), "needs content"),
        (write_body(USER, CALLS, USER), "must be followed by tool messages"),
        (write_body(USER, CALLS), "must be followed by tool messages"),
    ],
)
async def test_a_request_that_the_real_server_refuses_is_refused(body: Any, problem: str) -> None:
    """A conversion that would fail in earnest fails in the tests."""
    async with ModelServer([]) as server:
        answer = await send_bytes(server, write_post(chat.PATH, body))
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert problem in answer.decode()


def test_a_right_conversation_has_no_problem() -> None:
    """A call, its result, and a late system message."""
    late = {"role": "system", "content": "x"}
    assert chat.find_problem(write_body(USER, CALLS, ANSWER, late)) is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"messages": 7}, "messages"),
        (write_body({"role": {}}), "role"),
        (write_body({"role": "assistant", "tool_calls": "x"}), "tool_calls"),
        (write_body({"role": "assistant", "tool_calls": [{}]}), "id"),
        (write_body({**ANSWER, "tool_call_id": []}), "tool_call_id"),
        (write_body(USER) | {"stream_options": [1]}, "stream_options"),
    ],
)
def test_a_field_of_another_type_is_named(body: dict[str, Any], field: str) -> None:
    """Every field may hold any JSON; the answer says which one is wrong."""
    with pytest.raises(Malformed, match=rf"'{field}'"):
        chat.find_problem(body)


@pytest.mark.parametrize("usage", [True, False])
def test_usage_is_streamed_only_if_asked_for(usage: bool) -> None:
    """`stream_options.include_usage` adds a chunk without choices before the end."""
    body = {"stream_options": {"include_usage": usage}}
    frames = b"".join(chat.write_events(Exchange(Reply(text="One two."), 1, body)))
    chunks = read_events(frames)
    assert frames.endswith(b"data: [DONE]\n\n")
    assert ("usage" in chunks[-1]) is usage
    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"])
    assert text == "One two."


def test_arguments_are_streamed_in_pieces_behind_the_name() -> None:
    """The first chunk of a call has its id and name, the following ones only arguments."""
    call = ScriptedCall(name="Bash", input={"command": "git status --short"})
    events = chat.write_events(Exchange(Reply(tool_calls=(call, call)), 2, {}))
    deltas = [c["choices"][0]["delta"] for c in read_events(b"".join(events))]
    parts = [d["tool_calls"][0] for d in deltas if "tool_calls" in d]
    assert [part["id"] for part in parts if "id" in part] == ["call_2_1", "call_2_2"]
    for index in (0, 1):
        pieces = [p["function"]["arguments"] for p in parts if p["index"] == index]
        assert "".join(pieces) == '{"command": "git status --short"}'
        assert len(pieces) > 2


def test_thinking_is_in_a_field_of_open_models() -> None:
    """OpenAI has no such field; most compatible servers have."""
    message = chat.write_reply(Exchange(Reply(thinking="Hm.", text="x"), 1, {}))
    choice = message["choices"][0]
    assert choice["message"]["reasoning_content"] == "Hm."
    assert choice["finish_reason"] == "stop"


def test_an_error_has_its_status_type_and_code() -> None:
    """Clients decide by status and code."""
    status, body = chat.write_error(Failure(type="context_length"))
    assert (status, body["error"]["code"]) == (400, "context_length_exceeded")
    assert read_events(chat.write_error_event(Failure(type="context_length"))) == [body]


async def test_the_sdks_own_helper_understands_the_stream() -> None:
    """Its accumulator, which we do not use, agrees with what the server says."""
    line = {"text": "Let me look.", "tool_calls": [{"name": "B", "input": {"a": 1}}]}
    question: Any = {"messages": [USER], "model": "m"}
    async with (
        ModelServer([line]) as server,
        openai.AsyncOpenAI(api_key="k", base_url=server.openai_url) as client,
        client.chat.completions.stream(**question) as chunks,
    ):
        completion = await chunks.get_final_completion()
    message = completion.choices[0].message
    assert message.content == "Let me look."
    assert message.tool_calls
    assert message.tool_calls[0].function.arguments == '{"a": 1}'
