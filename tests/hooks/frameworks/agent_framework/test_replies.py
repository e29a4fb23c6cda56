"""Replies of a model, and what stands in their place."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import ChatResponse, Content, Message

from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.agent_framework.messages import (
    change_reply,
    describe_reply,
    is_answer,
    read_contents,
    refuse_reply,
    say_as_agent,
    say_in_chat,
)

CALL = Content.from_function_call("c1", "note", arguments={"text": "a"}, id="o1")


def make_reply(*contents: Content | str, **more: Any) -> ChatResponse[Any]:
    """A reply of a model."""
    return ChatResponse(messages=[Message("assistant", contents)], model="m", **more)


def test_a_reply_is_described_with_its_cost() -> None:
    """Text, calls, tokens, and why the model stopped."""
    usage: Any = {"input_token_count": 3, "output_token_count": 4}
    reply = describe_reply(make_reply("Hi.", CALL, usage_details=usage, finish_reason="stop"), 7)
    assert (reply.text, reply.model, reply.finish_reason) == ("Hi.", "m", "stop")
    assert reply.usage == {"input_tokens": 3, "output_tokens": 4}
    assert reply.calls == [{"id": "c1", "name": "note", "arguments": {"text": "a"}}]
    assert reply.duration_ms == 7


def test_a_reply_without_calls_is_an_answer() -> None:
    """Unless it is not whole yet."""
    assert is_answer(make_reply("Hi."))
    assert not is_answer(make_reply(CALL))
    token: Any = {"id": "later"}
    assert not is_answer(make_reply("Hi.", continuation_token=token))


def test_text_and_calls_are_changed_by_themselves() -> None:
    """What hooks left alone is the model's own."""
    thought = Content.from_text_reasoning(text="Hmm.")
    reply = make_reply(thought, "PIN 4711", CALL, response_id="r", conversation_id="v")
    changed = change_reply(reply, ReplyVerdict(True, text="PIN [hidden]"), None)
    contents = read_contents(changed.messages)
    assert contents[0] is thought
    assert contents[1].text == "PIN [hidden]"
    assert contents[2] is CALL
    assert (changed.response_id, changed.conversation_id, changed.model) == ("r", "v", "m")
    fewer = change_reply(reply, ReplyVerdict(True, calls=[]), None)
    assert [one.type for one in read_contents(fewer.messages)] == ["text_reasoning", "text"]


def test_a_refused_reply_says_why() -> None:
    """And nothing else."""
    refused = refuse_reply(make_reply("PIN 4711", CALL), "against the rules")
    assert refused.text == "against the rules"
    assert is_answer(refused)


def test_a_reason_is_a_response() -> None:
    """Of a model that was not called, and of an agent that was not run."""
    assert say_in_chat("no").text == say_as_agent("no").text == "no"
