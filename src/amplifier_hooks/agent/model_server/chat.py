"""The Chat Completions protocol of OpenAI, seen from the server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server.exchange import (
    Exchange,
    Object,
    count_replies,
    format_event,
    read_last_words,
    read_object,
    read_objects,
    read_text,
    require_text,
    split_arguments,
)
from amplifier_hooks.agent.providers.scripted import Failure, split_words

PATH = "/v1/chat/completions"

__all__ = [
    "PATH",
    "count_replies",
    "find_problem",
    "read_last_words",
    "write_error",
    "write_error_event",
    "write_events",
    "write_reply",
]

_ROLES = frozenset(("system", "developer", "user", "assistant", "tool"))

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


def write_error(failure: Failure) -> tuple[int, Object]:
    """The status and the body of an error."""
    status, kind, code = _ERRORS[failure.type]
    error = {"message": failure.sentence, "type": kind, "param": None, "code": code}
    return status, {"error": error}


def write_error_event(failure: Failure) -> bytes:
    """The event for an error in the middle of a stream."""
    return format_event(write_error(failure)[1])


def find_problem(body: Object) -> str | None:
    """What the real server would object to in this request; None if nothing."""
    messages = read_objects(body, "messages")
    if not messages:
        return "[] is too short - 'messages'"
    read_object(body, "stream_options")
    for index, message in enumerate(messages):
        if problem := _check_message(message, messages[index + 1 :], messages[:index]):
            return problem
    return None


def _check_message(message: Object, after: list[Object], before: list[Object]) -> str | None:
    role = read_text(message, "role")
    if role not in _ROLES:
        return f"Invalid value: {role!r} in messages"
    calls = _read_call_ids(message)
    answers = [read_text(answer, "tool_call_id") for answer in after[: len(calls)]]
    if sorted(calls) != sorted(filter(None, answers)):
        return f"'tool_calls' {calls} must be followed by tool messages, not {answers}"
    if role == "tool" and not _is_called(message, before):
        return "messages with role 'tool' must be a response to a preceding message with calls"
    if role == "user" and not message.get("content"):
        return "messages: a user message needs content"
    return None


def _read_call_ids(message: Object) -> list[str]:
    return [require_text(call, "id") for call in read_objects(message, "tool_calls")]


def _is_called(message: Object, before: list[Object]) -> bool:
    calls = [call_id for earlier in before for call_id in _read_call_ids(earlier)]
    return read_text(message, "tool_call_id") in calls


def write_reply(exchange: Exchange) -> Object:
    """The reply as one completion."""
    reply = exchange.reply
    message: Object = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.thinking is not None:
        message["reasoning_content"] = reply.thinking
    if reply.tool_calls:
        message["tool_calls"] = [
            _write_call(id, call) for id, call in exchange.number_calls("call")
        ]
    choice = {"index": 0, "message": message, "finish_reason": _get_finish_reason(exchange)}
    return _wrap(exchange, "chat.completion", [choice]) | {"usage": _write_usage(exchange.usage)}


def _wrap(exchange: Exchange, kind: str, choices: list[Any]) -> Object:
    return {
        "id": f"chatcmpl-{exchange.number}",
        "object": kind,
        "created": 1_700_000_000,
        "model": exchange.model,
        "choices": choices,
    }


def _write_call(call_id: str, call: Any) -> Object:
    function = {"name": call.name, "arguments": call.written_arguments}
    return {"id": call_id, "type": "function", "function": function}


def _get_finish_reason(exchange: Exchange) -> str:
    return exchange.reply.finish_reason or ("tool_calls" if exchange.reply.tool_calls else "stop")


def _write_usage(usage: Usage) -> Object:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def write_events(exchange: Exchange) -> Iterator[bytes]:
    """The reply as chunks."""
    yield _write_chunk(exchange, {"role": "assistant", "content": ""})
    for delta in _write_deltas(exchange):
        yield _write_chunk(exchange, delta)
    yield _write_chunk(exchange, {}, _get_finish_reason(exchange))
    if read_object(exchange.body, "stream_options").get("include_usage"):
        last = _wrap(exchange, "chat.completion.chunk", []) | {
            "usage": _write_usage(exchange.usage)
        }
        yield format_event(last)
    yield format_event("[DONE]")


def _write_deltas(exchange: Exchange) -> Iterator[Object]:
    reply = exchange.reply
    yield from ({"reasoning_content": word} for word in split_words(reply.thinking or ""))
    yield from ({"content": word} for word in split_words(reply.text))
    for index, (call_id, call) in enumerate(exchange.number_calls("call")):
        bare = {"name": call.name, "arguments": ""}
        head = {"index": index, "id": call_id, "type": "function", "function": bare}
        yield {"tool_calls": [head]}
        for part in split_arguments(call.written_arguments):
            yield {"tool_calls": [{"index": index, "function": {"arguments": part}}]}


def _write_chunk(exchange: Exchange, delta: Object, finish_reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
    return format_event(_wrap(exchange, "chat.completion.chunk", [choice]))
