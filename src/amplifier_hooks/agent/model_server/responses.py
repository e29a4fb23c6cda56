"""The Responses protocol of OpenAI, seen from the server."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server.chat import write_error
from amplifier_hooks.agent.model_server.exchange import (
    Exchange,
    Object,
    format_event,
    read_objects,
    read_text,
    read_text_since,
    require_text,
    split_arguments,
)
from amplifier_hooks.agent.providers.scripted import Failure, split_words

PATH = "/v1/responses"

_CALLS = frozenset(("function_call", "custom_tool_call"))
_OF_MODEL = _CALLS | {"reasoning"}

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

Event = tuple[str, Object]


def write_error_event(failure: Failure) -> bytes:
    """The event for an error in the middle of a stream."""
    error = write_error(failure)[1]["error"]
    data = {"type": "error", "code": error["code"] or error["type"], "message": error["message"]}
    return format_event(data | {"param": None, "sequence_number": 0}, "error")


def find_problem(body: Object) -> str | None:
    """What the real server would object to in this request; None if nothing."""
    items = _read_items(body)
    if not items:
        return "Missing required parameter: 'input'"
    _list_custom_tools(body)
    return next(filter(None, (_check_pairs(items, kind) for kind in sorted(_CALLS))), None)


def _check_pairs(items: list[Object], kind: str) -> str | None:
    """Every call has its output, and every output its call."""
    called = _read_call_ids(items, kind)
    answered = _read_call_ids(items, f"{kind}_output")
    words = kind.replace("_", " ")
    for call_id in called:
        if call_id not in answered:
            return f"No tool output found for {words} {call_id}."
    for call_id in answered:
        if call_id not in called:
            return f"No tool call found for {words} output with call_id {call_id}."
    return None


def _read_items(body: Object) -> list[Object]:
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return read_objects(body, "input")


def _read_call_ids(items: list[Object], kind: str) -> list[str]:
    return [require_text(item, "call_id") for item in items if read_text(item, "type") == kind]


def read_last_words(body: Object) -> str:
    """What was said to the model since its last reply."""
    return read_text_since(_read_items(body), _is_of_model)


def count_replies(body: Object) -> int:
    """The number of replies so far; consecutive items of the model are one reply."""
    written = [_is_of_model(item) for item in _read_items(body)]
    return sum(now and not before for before, now in zip([False, *written], written, strict=False))


def _is_of_model(item: Object) -> bool:
    return item.get("role") == "assistant" or read_text(item, "type") in _OF_MODEL


def write_reply(exchange: Exchange) -> Object:
    """The reply as one response."""
    return _write_response(exchange, "completed", [item for item, _ in _write_output(exchange)])


def _write_response(exchange: Exchange, status: str, output: list[Any]) -> Object:
    cut = exchange.reply.finish_reason in {"max_output_tokens", "content_filter"}
    done = status == "completed"
    return {
        "id": f"resp_{exchange.number}",
        "object": "response",
        "created_at": 1_700_000_000,
        "model": exchange.model,
        "status": "incomplete" if cut and done else status,
        "incomplete_details": {"reason": exchange.reply.finish_reason} if cut and done else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": _write_usage(exchange.usage) if done else None,
    }


def _write_usage(usage: Usage) -> Object:
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "input_tokens_details": {"cached_tokens": usage.cache_read_tokens or 0},
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens or 0},
    }


def _write_output(exchange: Exchange) -> Iterator[tuple[Object, list[Event]]]:
    """Each item in its final form, with the events between its beginning and its end."""
    reply = exchange.reply
    if reply.thinking is not None:
        yield _write_reasoning(exchange, reply.thinking)
    if reply.text:
        yield _write_message(exchange)
    custom = _list_custom_tools(exchange.body)
    for call_id, call in exchange.number_calls("call"):
        write = _write_custom_call if call.name in custom else _write_function_call
        yield write(call_id, call.name, call.written_arguments)


def _list_custom_tools(body: Object) -> set[str | None]:
    """The tools of this request that take a text of their own syntax instead of JSON."""
    offered = read_objects(body, "tools")
    return {read_text(tool, "name") for tool in offered if read_text(tool, "type") == "custom"}


def _write_reasoning(exchange: Exchange, thought: str) -> tuple[Object, list[Event]]:
    item = {
        "id": f"rs_{exchange.number}",
        "type": "reasoning",
        "summary": [{"type": "summary_text", "text": thought}],
        "encrypted_content": exchange.reply.signature or f"sealed-{exchange.number}",
    }
    place = {"item_id": item["id"], "summary_index": 0}
    name = "response.reasoning_summary_text.delta"
    return item, [(name, place | {"delta": word}) for word in split_words(thought)]


def _write_message(exchange: Exchange) -> tuple[Object, list[Event]]:
    part = {"type": "output_text", "text": exchange.reply.text, "annotations": []}
    item = {
        "id": f"item_{exchange.number}",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    place = {"item_id": item["id"], "content_index": 0}
    said: list[Event] = [("response.content_part.added", place | {"part": part | {"text": ""}})]
    said += [
        ("response.output_text.delta", place | {"delta": word, "logprobs": []})
        for word in split_words(exchange.reply.text)
    ]
    done = {"text": exchange.reply.text, "logprobs": []}
    said.append(("response.output_text.done", place | done))
    said.append(("response.content_part.done", place | {"part": part}))
    return item, said


def _write_function_call(call_id: str, name: str, written: str) -> tuple[Object, list[Event]]:
    # No name may hold a dot; in the script it stands between a group of tools and one of them.
    namespace, _, name = name.rpartition(".")
    item = {
        "id": f"fc_{call_id}",
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": written,
        "status": "completed",
    }
    if namespace:
        item["namespace"] = namespace
    kind = "response.function_call_arguments"
    place = {"item_id": item["id"]}
    said: list[Event] = [
        (f"{kind}.delta", place | {"delta": part}) for part in split_arguments(written)
    ]
    return item, [*said, (f"{kind}.done", place | {"arguments": written, "name": name})]


def _write_custom_call(call_id: str, name: str, written: str) -> tuple[Object, list[Event]]:
    item = {
        "id": f"ctc_{call_id}",
        "type": "custom_tool_call",
        "call_id": call_id,
        "name": name,
        "input": written,
        "status": "completed",
    }
    kind = "response.custom_tool_call_input"
    place = {"item_id": item["id"]}
    said: list[Event] = [
        (f"{kind}.delta", place | {"delta": part}) for part in split_arguments(written)
    ]
    return item, [*said, (f"{kind}.done", place | {"input": written})]


def write_events(exchange: Exchange) -> Iterator[bytes]:
    """The reply as events, numbered."""
    numbers = count()
    for name, data in _list_events(exchange):
        yield format_event({"type": name, "sequence_number": next(numbers)} | data, name)


def _list_events(exchange: Exchange) -> Iterator[Event]:
    output = list(_write_output(exchange))
    yield "response.created", {"response": _write_response(exchange, "in_progress", [])}
    for index, (item, inner) in enumerate(output):
        place = {"output_index": index}
        yield "response.output_item.added", place | {"item": _empty_item(item)}
        yield from ((name, place | data) for name, data in inner)
        yield "response.output_item.done", place | {"item": item}
    final = _write_response(exchange, "completed", [item for item, _ in output])
    yield f"response.{final['status']}", {"response": final}


def _empty_item(item: Object) -> Object:
    empty: Object = {
        "content": [],
        "summary": [],
        "arguments": "",
        "input": "",
        "encrypted_content": None,
    }
    status = {"status": "in_progress"} if "status" in item else {}
    return item | {name: value for name, value in empty.items() if name in item} | status
