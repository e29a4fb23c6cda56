"""The Responses protocol of OpenAI, seen from the server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_foundation.model_server.chat import error
from amplifier_foundation.model_server.pieces import (
    Turn,
    arguments_of,
    event,
    slices,
    text_since,
    words,
)
from amplifier_foundation.providers.script import Failure

PATH = "/v1/responses"

__all__ = ["PATH", "complaint", "error", "error_event", "events", "said_last", "turns", "whole"]


def error_event(failure: Failure) -> bytes:
    """An error in the middle of a stream."""
    said = error(failure)[1]["error"]
    data = {"type": "error", "code": said["code"] or said["type"], "message": said["message"]}
    return event(data | {"param": None, "sequence_number": 0}, "error")


def complaint(body: dict[str, Any]) -> str | None:
    """What the real server would say against this request."""
    items = _items(body)
    if not items:
        return "Missing required parameter: 'input'"
    called = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for call_id in called:
        if call_id not in answered:
            return f"No tool output found for function call {call_id}."
    for call_id in answered:
        if call_id not in called:
            return f"No tool call found for function call output with call_id {call_id}."
    return None


def _items(body: dict[str, Any]) -> list[Any]:
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return given if isinstance(given, list) else []


def said_last(body: dict[str, Any]) -> str:
    """What was said to the model since its last reply."""
    return text_since(_items(body), _is_written)


def turns(body: dict[str, Any]) -> int:
    """How many replies the conversation has so far: runs of items that the model wrote."""
    written = [_is_written(item) for item in _items(body)]
    return sum(now and not before for before, now in zip([False, *written], written, strict=False))


def _is_written(item: dict[str, Any]) -> bool:
    return item.get("role") == "assistant" or item.get("type") in {"function_call", "reasoning"}


def whole(turn: Turn) -> dict[str, Any]:
    """The reply as one response."""
    return _response(turn, "completed", [item for item, _ in _output(turn)])


def _response(turn: Turn, status: str, output: list[Any]) -> dict[str, Any]:
    cut = turn.reply.finish_reason in {"max_output_tokens", "content_filter"}
    done = status == "completed"
    return {
        "id": f"resp_{turn.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": turn.model,
        "status": "incomplete" if cut and done else status,
        "incomplete_details": {"reason": turn.reply.finish_reason} if cut and done else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": _usage(turn.usage) if done else None,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


Event = tuple[str, dict[str, Any]]


def _output(turn: Turn) -> Iterator[tuple[dict[str, Any], list[Event]]]:
    """Each item as it is in the end, and the events between its beginning and its end."""
    reply = turn.reply
    if reply.thinking is not None:
        yield _reasoning(turn, reply.thinking)
    if reply.text:
        yield _message(turn)
    for call_id, call in turn.calls("call"):
        yield _function_call(call_id, call.name, arguments_of(call))


def _reasoning(turn: Turn, thought: str) -> tuple[dict[str, Any], list[Event]]:
    item = {
        "id": f"rs_{turn.number}",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": thought}],
        "encrypted_content": turn.reply.signature or f"sealed-{turn.number}",
    }
    place = {"item_id": item["id"], "summary_index": 0}
    name = "response.reasoning_summary_text.delta"
    return item, [(name, place | {"delta": word}) for word in words(thought)]


def _message(turn: Turn) -> tuple[dict[str, Any], list[Event]]:
    part = {"type": "output_text", "text": turn.reply.text, "annotations": []}
    item = {
        "id": f"item_{turn.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    place = {"item_id": item["id"], "content_index": 0}
    said: list[Event] = [("response.content_part.added", place | {"part": part | {"text": ""}})]
    said += [
        ("response.output_text.delta", place | {"delta": word, "logprobs": []})
        for word in words(turn.reply.text)
    ]
    done = {"text": turn.reply.text, "logprobs": []}
    said.append(("response.output_text.done", place | done))
    said.append(("response.content_part.done", place | {"part": part}))
    return item, said


def _function_call(call_id: str, name: str, written: str) -> tuple[dict[str, Any], list[Event]]:
    item = {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": written,
        "status": "completed",
    }
    kind, place = "response.function_call_arguments", {"item_id": item["id"]}
    said: list[Event] = [(f"{kind}.delta", place | {"delta": part}) for part in slices(written)]
    return item, [*said, (f"{kind}.done", place | {"arguments": written, "name": name})]


def events(turn: Turn) -> Iterator[bytes]:
    """The reply as events, numbered."""
    numbers = count()
    for name, data in _events(turn):
        yield event({"type": name, "sequence_number": next(numbers)} | data, name)


def _events(turn: Turn) -> Iterator[Event]:
    output = list(_output(turn))
    yield "response.created", {"response": _response(turn, "in_progress", [])}
    for index, (item, inner) in enumerate(output):
        place = {"output_index": index}
        yield "response.output_item.added", place | {"item": _bare(item)}
        yield from ((name, place | data) for name, data in inner)
        yield "response.output_item.done", place | {"item": item}
    final = _response(turn, "completed", [item for item, _ in output])
    yield f"response.{final['status']}", {"response": final}


def _bare(item: dict[str, Any]) -> dict[str, Any]:
    empty: dict[str, Any] = {
        "content": [],
        "summary": [],
        "arguments": "",
        "encrypted_content": None,
    }
    status = {"status": "in_progress"} if "status" in item else {}
    return item | {name: value for name, value in empty.items() if name in item} | status
