"""Replies of a model, and what stands in their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent_framework import AgentResponse, ChatResponse, Content, Message

from amplifier_hooks.external.verdicts import Reply, ReplyVerdict
from amplifier_hooks.frameworks.agent_framework.contents import (
    describe_calls,
    read_texts,
    write_calls,
)
from amplifier_hooks.frameworks.agent_framework.messages import copy_message

USAGE = {
    "input_tokens": "input_token_count",
    "output_tokens": "output_token_count",
    "total_tokens": "total_token_count",
}


def describe_reply(response: ChatResponse[Any], duration_ms: int) -> Reply:
    """A reply in our words."""
    contents = read_contents(response.messages)
    usage = dict(response.usage_details or {})
    counts = {ours: usage.get(theirs) for ours, theirs in USAGE.items()}
    reason = response.finish_reason
    return Reply(
        read_texts(contents),
        describe_calls(contents),
        model=response.model,
        usage={name: count for name, count in counts.items() if isinstance(count, int)},
        finish_reason=None if reason is None else str(reason),
        duration_ms=duration_ms,
    )


def read_contents(messages: Sequence[Message]) -> list[Content]:
    """All contents of the messages of a reply."""
    return [one for message in messages for one in message.contents]


def is_answer(response: ChatResponse[Any]) -> bool:
    """Whether the turn ends with this reply: nothing is left to run or to wait for."""
    waits = response.continuation_token is not None
    return not waits and not describe_calls(read_contents(response.messages))


def change_reply(
    response: ChatResponse[Any], verdict: ReplyVerdict, response_format: Any
) -> ChatResponse[Any]:
    """A reply as hooks left it; what they cannot see stays."""
    contents = read_contents(response.messages)
    text = read_texts(contents) if verdict.text is None else verdict.text
    calls = describe_calls(contents) if verdict.calls is None else verdict.calls
    others = [one for one in contents if one.type != "text" and not describe_calls([one])]
    said = [Content.from_text(text)] if text else []
    left = [*others, *said, *write_calls(calls, contents)]
    source = response.messages[-1] if response.messages else Message("assistant")
    return _copy_response(response, copy_message(source, left), response_format)


def refuse_reply(response: ChatResponse[Any], reason: str) -> ChatResponse[Any]:
    """The reason in the place of a reply that nobody gets."""
    return _copy_response(response, Message("assistant", [reason]), None)


def _copy_response(
    response: ChatResponse[Any], message: Message, response_format: Any
) -> ChatResponse[Any]:
    """A reply with another message; what the provider sent as it came is not kept."""
    return ChatResponse(
        messages=[message],
        response_id=response.response_id,
        conversation_id=response.conversation_id,
        model=response.model,
        created_at=response.created_at,
        finish_reason=response.finish_reason,
        usage_details=response.usage_details,
        response_format=response_format,
        continuation_token=response.continuation_token,
    )


def say_in_chat(text: str) -> ChatResponse[Any]:
    """A reply that no model gave."""
    return ChatResponse(messages=[Message("assistant", [text])], finish_reason="stop")


def say_as_agent(text: str) -> AgentResponse[Any]:
    """The response of an agent that was not run."""
    return AgentResponse(messages=[Message("assistant", [text])], finish_reason="stop")
