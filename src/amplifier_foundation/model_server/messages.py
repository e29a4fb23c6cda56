"""The Messages protocol of Anthropic, seen from the server."""

from __future__ import annotations

import json
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

PATH = "/v1/messages"

__all__ = ["PATH", "complaint", "error", "error_event", "events", "said_last", "turns", "whole"]

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


def error(failure: Failure) -> tuple[int, dict[str, Any]]:
    """Status and body of an error."""
    status, kind = _ERRORS[failure.type]
    message = failure.sentence
    if failure.type == "context_length":
        message = failure.message or "prompt is too long: 205000 tokens > 200000 maximum"
    if failure.type == "content_filter":
        message = failure.message or "Output blocked by content_filter policy"
    return status, {"type": "error", "error": {"type": kind, "message": message}}


def error_event(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    return event(error(failure)[1], "error")


def complaint(body: dict[str, Any]) -> str | None:
    """What the real server would say against this request."""
    if not isinstance(body.get("max_tokens"), int):
        return "max_tokens: Field required"
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return "messages: at least one message is required"
    if messages[0].get("role") != "user":
        return 'messages: first message must use the "user" role'
    return next((said for said in map(_against, messages, _followers(messages)) if said), None)


def _followers(messages: list[Any]) -> list[Any]:
    return [*messages[1:], {}]


def _against(message: dict[str, Any], following: dict[str, Any]) -> str | None:
    if message.get("role") not in {"user", "assistant", "system"}:
        return f"messages: unexpected role {message.get('role')!r}"
    parts = _parts(message)
    if not parts:
        return "messages: all messages must have non-empty content"
    if any(part.get("type") == "text" and not part["text"].strip() for part in parts):
        return "messages: text content blocks must be non-empty"
    return _unpaired(parts, _parts(following))


def _unpaired(parts: list[Any], following: list[Any]) -> str | None:
    called = [part["id"] for part in parts if part.get("type") == "tool_use"]
    answered = [part["tool_use_id"] for part in following if part.get("type") == "tool_result"]
    if called and sorted(called) != sorted(answered):
        return f"messages: `tool_use` ids {called} need `tool_result` blocks in the next message"
    if answered and not called:
        return f"messages: unexpected `tool_use_id` {answered} without `tool_use` before it"
    kinds = [part.get("type") for part in following[: len(answered)]]
    if called and kinds != ["tool_result"] * len(answered):
        return "messages: `tool_result` blocks must come first in their message"
    return None


def _parts(message: dict[str, Any]) -> list[Any]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content if isinstance(content, list) else []


def whole(turn: Turn) -> dict[str, Any]:
    """The reply as one message."""
    message = _message(turn)
    message["content"] = [block for block, _ in _blocks(turn)]
    message["stop_reason"] = _stop_reason(turn)
    message["usage"] = _usage(turn.usage)
    return message


def _message(turn: Turn) -> dict[str, Any]:
    return {
        "id": f"msg_{turn.number}",
        "type": "message",
        "role": "assistant",
        "model": turn.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": _usage(turn.usage) | {"output_tokens": 1},
    }


def _stop_reason(turn: Turn) -> str:
    return turn.reply.finish_reason or ("tool_use" if turn.reply.tool_calls else "end_turn")


def _usage(usage: Usage) -> dict[str, int]:
    read, written = usage.cache_read_tokens or 0, usage.cache_write_tokens or 0
    return {
        "input_tokens": usage.input_tokens - read - written,
        "output_tokens": usage.output_tokens,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
    }


def _blocks(turn: Turn) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block as it is in the end, and the deltas that make it."""
    reply = turn.reply
    if reply.thinking is not None:
        signature = reply.signature or f"signature-{turn.number}"
        deltas = [{"type": "thinking_delta", "thinking": word} for word in words(reply.thinking)]
        deltas.append({"type": "signature_delta", "signature": signature})
        yield {"type": "thinking", "thinking": reply.thinking, "signature": signature}, deltas
    if reply.text:
        said = [{"type": "text_delta", "text": word} for word in words(reply.text)]
        yield {"type": "text", "text": reply.text}, said
    for call_id, call in turn.calls("toolu"):
        written = arguments_of(call)
        pieces = [{"type": "input_json_delta", "partial_json": part} for part in slices(written)]
        value = {"type": "tool_use", "id": call_id, "name": call.name, "input": _input(written)}
        yield value, pieces


def _input(written: str) -> Any:
    try:
        return json.loads(written)
    except ValueError:
        return written


def events(turn: Turn) -> Iterator[bytes]:
    """The reply as events."""
    yield _event("message_start", message=_message(turn))
    yield _event("ping")
    for index, (block, deltas) in enumerate(_blocks(turn)):
        yield _event("content_block_start", index=index, content_block=_bare(block))
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {"stop_reason": _stop_reason(turn), "stop_sequence": None}
    usage = {"output_tokens": turn.usage.output_tokens}
    yield _event("message_delta", delta=stop, usage=usage)
    yield _event("message_stop")


def _bare(block: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {"text": "", "thinking": "", "signature": "", "input": {}}
    return block | {name: value for name, value in empty.items() if name in block}


def _event(name: str, **data: Any) -> bytes:
    return event({"type": name, **data}, name)
