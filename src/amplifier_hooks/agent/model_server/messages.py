"""The Messages protocol of Anthropic, seen from the server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server.exchange import (
    Exchange,
    Object,
    count_replies,
    format_event,
    read_last_words,
    read_objects,
    read_text,
    require_text,
    split_arguments,
)
from amplifier_hooks.agent.providers.scripted import Failure, split_words

PATH = "/v1/messages"

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

_ERRORS = {
    "rate_limit": (429, "rate_limit_error"),
    "overloaded": (529, "overloaded_error"),
    "server_error": (500, "api_error"),
    "authentication": (401, "authentication_error"),
    "access_denied": (403, "permission_error"),
    "not_found": (404, "not_found_error"),
    "invalid_request": (400, "invalid_request_error"),
    "context_length": (400, "invalid_request_error"),
    "content_filter": (400, "invalid_request_error"),
}
# Their status says too little; clients recognise them by their words.
_USUAL_MESSAGES: dict[str, str] = {
    "context_length": "prompt is too long: 205000 tokens > 200000 maximum",
    "content_filter": "Output blocked by content_filter policy",
}


def write_error(failure: Failure) -> tuple[int, Object]:
    """The status and the body of an error."""
    status, kind = _ERRORS[failure.type]
    message = failure.message or _USUAL_MESSAGES.get(failure.type) or failure.sentence
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def write_error_event(failure: Failure) -> bytes:
    """The event for an error in the middle of a stream."""
    return format_event(write_error(failure)[1], "error")


def find_problem(body: Object) -> str | None:
    """What the real server would object to in this request; None if nothing."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    messages = read_objects(body, "messages")
    if not messages:
        return "messages: at least one message is required"
    if read_text(messages[0], "role") != "user":
        return 'messages: first message must use the "user" role'
    problems = map(_check_message, messages, [*messages[1:], {}])
    return next((problem for problem in problems if problem), None)


def _check_message(message: Object, following: Object) -> str | None:
    role = read_text(message, "role")
    if role not in {"user", "assistant", "system"}:
        return f"messages: unexpected role {role!r}"
    parts = _read_parts(message)
    if not parts:
        return "messages: all messages must have non-empty content"
    if any(_is_blank(part) for part in parts):
        return "messages: text content blocks must be non-empty"
    return _check_pairs(parts, _read_parts(following))


def _read_parts(message: Object) -> list[Object]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return read_objects(message, "content")


def _is_blank(part: Object) -> bool:
    return read_text(part, "type") == "text" and not require_text(part, "text").strip()


def _check_pairs(parts: list[Object], following: list[Object]) -> str | None:
    """Every call has its result at the beginning of the next message, and every result its call."""
    called = _read_ids(parts, "tool_use", "id")
    answered = _read_ids(following, "tool_result", "tool_use_id")
    if called and sorted(called) != sorted(answered):
        return f"messages: `tool_use` ids {called} need `tool_result` blocks in the next message"
    if answered and not called:
        return f"messages: unexpected `tool_use_id` {answered} without `tool_use` before it"
    if any(read_text(part, "type") != "tool_result" for part in following[: len(answered)]):
        return "messages: `tool_result` blocks must come first in their message"
    return None


def _read_ids(parts: list[Object], kind: str, name: str) -> list[str]:
    return [require_text(part, name) for part in parts if read_text(part, "type") == kind]


def write_reply(exchange: Exchange) -> Object:
    """The reply as one message."""
    message = _write_message(exchange)
    message["content"] = [block for block, _ in _write_blocks(exchange)]
    message["stop_reason"] = _get_stop_reason(exchange)
    message["usage"] = _write_usage(exchange.usage)
    return message


def _write_message(exchange: Exchange) -> Object:
    return {
        "id": f"msg_{exchange.number}",
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _write_usage(exchange.usage) | {"output_tokens": 1},
    }


def _get_stop_reason(exchange: Exchange) -> str:
    return exchange.reply.finish_reason or ("tool_use" if exchange.reply.tool_calls else "end_turn")


def _write_usage(usage: Usage) -> dict[str, int]:
    read = usage.cache_read_tokens or 0
    written = usage.cache_write_tokens or 0
    return {
        "input_tokens": usage.input_tokens - read - written,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }


def _write_blocks(exchange: Exchange) -> Iterator[tuple[Object, list[Object]]]:
    """Each block in its final form, with the deltas that it is streamed in."""
    reply = exchange.reply
    if reply.thinking is not None:
        signature = reply.signature or f"signature-{exchange.number}"
        deltas = [
            {"type": "thinking_delta", "thinking": word} for word in split_words(reply.thinking)
        ]
        deltas.append({"type": "signature_delta", "signature": signature})
        yield {"type": "thinking", "thinking": reply.thinking, "signature": signature}, deltas
    if reply.text:
        said = [{"type": "text_delta", "text": word} for word in split_words(reply.text)]
        yield {"type": "text", "text": reply.text}, said
    for call_id, call in exchange.number_calls("toolu"):
        written = call.written_arguments
        pieces = [
            {"type": "input_json_delta", "partial_json": part} for part in split_arguments(written)
        ]
        value = {
            "type": "tool_use",
            "id": call_id,
            "name": call.name,
            "input": _parse_input(written),
        }
        yield value, pieces


def _parse_input(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written


def write_events(exchange: Exchange) -> Iterator[bytes]:
    """The reply as events."""
    yield _write_event("message_start", message=_write_message(exchange))
    yield _write_event("ping")
    for index, (block, deltas) in enumerate(_write_blocks(exchange)):
        yield _write_event("content_block_start", index=index, content_block=_empty_block(block))
        for delta in deltas:
            yield _write_event("content_block_delta", index=index, delta=delta)
        yield _write_event("content_block_stop", index=index)
    stop = {"stop_reason": _get_stop_reason(exchange), "stop_sequence": None}
    usage = {"output_tokens": exchange.usage.output_tokens}
    yield _write_event("message_delta", delta=stop, usage=usage)
    yield _write_event("message_stop")


def _empty_block(block: Object) -> Object:
    empty: Object = {"text": "", "thinking": "", "signature": "", "input": {}}
    return block | {name: value for name, value in empty.items() if name in block}


def _write_event(name: str, **data: Any) -> bytes:
    return format_event({"type": name, **data}, name)
