"""The Chat Completions protocol of OpenAI, seen from the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_foundation.model_server.pieces import (
    Turn,
    arguments_of,
    event,
    said_last,
    slices,
    turns,
    words,
)
from amplifier_foundation.providers.script import Failure

PATH = "/v1/chat/completions"

__all__ = ["PATH", "complaint", "error", "error_event", "events", "said_last", "turns", "whole"]

_ERRORS = {
    "rate_limit": (429, "requests", "rate_limit_exceeded"),
    "overloaded": (529, "server_error", "overloaded"),
    "server_error": (500, "server_error", None),
    "authentication": (401, "invalid_request_error", "invalid_api_key"),
    "access_denied": (403, "invalid_request_error", "model_not_allowed"),
    "not_found": (404, "invalid_request_error", "model_not_found"),
    "invalid_request": (400, "invalid_request_error", None),
    "context_length": (400, "invalid_request_error", "context_length_exceeded"),
    "content_filter": (400, "invalid_request_error", "content_filter"),
}


def error(failure: Failure) -> tuple[int, dict[str, Any]]:
    """Status and body of an error."""
    status, kind, code = _ERRORS[failure.type]
    said = {"message": failure.sentence, "type": kind, "param": None, "code": code}
    return status, {"error": said}


def error_event(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return event(error(failure)[1])


def complaint(body: dict[str, Any]) -> str | None:
    """What the real server would say against this request."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "[] is too short - 'messages'"
    for index, message in enumerate(messages):
        if said := _against(message, messages[index + 1 :], messages[:index]):
            return said
    return None


def _against(message: dict[str, Any], after: list[Any], before: list[Any]) -> str | None:
    role = message.get("role")
    if role not in {"system", "developer", "user", "assistant", "tool"}:
        return f"Invalid value: {role!r} in messages"
    calls = [call["id"] for call in message.get("tool_calls") or []]
    answers = [answer.get("tool_call_id") for answer in after[: len(calls)]]
    if sorted(calls) != sorted(filter(None, answers)):
        return f"'tool_calls' {calls} must be followed by tool messages, not {answers}"
    if role == "tool" and not _is_called(message, before):
        return "messages with role 'tool' must be a response to a preceding message with calls"
    if role == "user" and not message.get("content"):
        return "messages: a user message needs content"
    return None


def _is_called(message: dict[str, Any], before: list[Any]) -> bool:
    calls = [call["id"] for earlier in before for call in earlier.get("tool_calls") or []]
    return message.get("tool_call_id") in calls


def whole(turn: Turn) -> dict[str, Any]:
    """The reply as one completion."""
    reply = turn.reply
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.thinking is not None:
        message["reasoning_content"] = reply.thinking
    if reply.tool_calls:
        message["tool_calls"] = [_call(id, call) for id, call in turn.calls("call")]
    choice = {"index": 0, "message": message, "finish_reason": _finish_reason(turn)}
    return _envelope(turn, "chat.completion", [choice]) | {"usage": _usage(turn.usage)}


def _envelope(turn: Turn, kind: str, choices: list[Any]) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{turn.number}",
        "object": kind,
        "created": 1_700_000_000,
        "model": turn.model,
        "choices": choices,
    }


def _call(call_id: str, call: Any) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_of(call)}
    return {"id": call_id, "type": "function", "function": function}


def _finish_reason(turn: Turn) -> str:
    return turn.reply.finish_reason or ("tool_calls" if turn.reply.tool_calls else "stop")


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def events(turn: Turn) -> Iterator[bytes]:
    """The reply as chunks."""
    yield _chunk(turn, {"role": "assistant", "content": ""})
    for delta in _deltas(turn):
        yield _chunk(turn, delta)
    yield _chunk(turn, {}, _finish_reason(turn))
    if (turn.body.get("stream_options") or {}).get("include_usage"):
        last = _envelope(turn, "chat.completion.chunk", []) | {"usage": _usage(turn.usage)}
        yield event(last)
    yield event("[DONE]")


def _deltas(turn: Turn) -> Iterator[dict[str, Any]]:
    reply = turn.reply
    yield from ({"reasoning_content": word} for word in words(reply.thinking or ""))
    yield from ({"content": word} for word in words(reply.text))
    for index, (call_id, call) in enumerate(turn.calls("call")):
        bare = {"name": call.name, "arguments": ""}
        head = {"index": index, "id": call_id, "type": "function", "function": bare}
        yield {"tool_calls": [head]}
        for part in slices(arguments_of(call)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _chunk(turn: Turn, delta: dict[str, Any], finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return event(_envelope(turn, "chat.completion.chunk", [choice]))
