"""The output of a model as a reply that hooks read, and back."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from agents import AgentOutputSchemaBase, ModelResponse, Usage
from agents.items import TResponseStreamEvent
from agents.models.fake_id import FAKE_RESPONSES_ID
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseContentPartAddedEvent,
    ResponseContentPartDoneEvent,
    ResponseFunctionToolCall,
    ResponseOutputItemAddedEvent,
    ResponseOutputItemDoneEvent,
    ResponseOutputMessage,
    ResponseOutputRefusal,
    ResponseOutputText,
    ResponseTextDeltaEvent,
    ResponseTextDoneEvent,
)

from amplifier_hooks.external.verdicts import Reply, ReplyVerdict
from amplifier_hooks.frameworks.openai_agents.messages import (
    CannotWrite,
    read_arguments,
    write_arguments,
)

_HERE = (
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
)
"""What the SDK does something about; everything else was done by the model's service."""


def get(item: Any, name: str) -> Any:
    """A field of an output item, which is an object or a mapping."""
    return item.get(name) if isinstance(item, dict) else getattr(item, name, None)


# Reading


def read_reply(output: Sequence[Any], usage: Any, model: str | None, spent: float) -> Reply:
    """What hooks see of a reply."""
    calls = [_read_call(one) for one in output if get(one, "type") in _HERE]
    return Reply(
        read_reply_text(output),
        calls,
        model=model,
        usage=_read_usage(usage),
        finish_reason="tool_calls" if calls else "stop",
        duration_ms=int(spent * 1000),
    )


def read_reply_text(output: Sequence[Any]) -> str:
    """All text of a reply."""
    return "".join(
        str(get(part, "text") or "")
        for item in output
        if get(item, "type") == "message"
        for part in get(item, "content") or ()
        if get(part, "type") == "output_text"
    )


def wants_nothing(output: Sequence[Any]) -> bool:
    """Whether the text of a reply is the answer: nothing is left to do."""
    return not any(get(one, "type") in _HERE for one in output)


def _read_call(item: Any) -> dict[str, Any]:
    kind = str(get(item, "type"))
    call_id = str(get(item, "call_id") or get(item, "id") or "")
    if kind in ("function_call", "custom_tool_call"):
        raw = get(item, "arguments") if kind == "function_call" else get(item, "input")
        return {"id": call_id, "name": get(item, "name"), "arguments": read_arguments(str(raw))}
    values = (
        item
        if isinstance(item, dict)
        else item.model_dump(mode="json", exclude_none=True, warnings=False)
    )
    hidden = ("type", "id", "call_id", "status")
    arguments = {key: value for key, value in values.items() if key not in hidden}
    return {"id": call_id, "name": kind.removesuffix("_call"), "arguments": arguments}


def _read_usage(usage: Any) -> dict[str, Any]:
    names = ("input_tokens", "output_tokens", "total_tokens")
    return {name: int(get(usage, name) or 0) for name in names} if usage is not None else {}


# Writing


def change_output(output: Sequence[Any], verdict: ReplyVerdict) -> list[Any]:
    """The output with what hooks made of it."""
    left = list(output)
    if verdict.calls is not None:
        left = _change_calls(left, verdict.calls)
    if verdict.text is not None:
        left = change_text(left, verdict.text)
    return left


def change_text(output: Sequence[Any], text: str) -> list[Any]:
    """The output with another text, in the place of its first message."""
    places = [number for number, one in enumerate(output) if get(one, "type") == "message"]
    others = [one for one in output if get(one, "type") != "message"]
    if not text:
        return others
    others.insert(places[0] if places else 0, make_message(text))
    return others


def _change_calls(output: list[Any], calls: list[dict[str, Any]]) -> list[Any]:
    wanted = {str(one.get("id")): one for one in calls}
    changed = [_find_changed(item, wanted) for item in output]
    left = [one for one in changed if one is not None]
    added = [_make_call(one) for one in wanted.values()]
    if len(left) == len(output):
        return [*left, *added]
    # The service refuses a thought whose call is no longer there.
    return [*(one for one in left if get(one, "type") != "reasoning"), *added]


def _find_changed(item: Any, wanted: dict[str, dict[str, Any]]) -> Any:
    """The item with what hooks made of its call; None if they dropped it."""
    if get(item, "type") not in _HERE:
        return item
    given = _read_call(item)
    call = wanted.pop(given["id"], None)
    if call is None or _is_same(given, call):
        return None if call is None else item
    return _change_call(item, call)


def _is_same(before: dict[str, Any], after: dict[str, Any]) -> bool:
    return all(before[key] == after.get(key) for key in ("name", "arguments"))


def _change_call(item: Any, call: dict[str, Any]) -> Any:
    if not isinstance(item, ResponseFunctionToolCall):
        kind = get(item, "type")
        raise CannotWrite(f"a hook changed a call of type {kind!r}, which can only be dropped")
    arguments = write_arguments(dict(call["arguments"]), item.arguments)
    return item.model_copy(update={"name": call["name"], "arguments": arguments})


def _make_call(call: dict[str, Any]) -> ResponseFunctionToolCall:
    return ResponseFunctionToolCall(
        type="function_call",
        call_id=str(call.get("id") or f"call_{uuid.uuid4().hex[:12]}"),
        name=str(call["name"]),
        arguments=write_arguments(dict(call["arguments"]), ""),
    )


# Replies of ours


def make_message(text: str) -> ResponseOutputMessage:
    """A message of the assistant."""
    part = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
    return _make_message(part)


def _make_message(part: ResponseOutputText | ResponseOutputRefusal) -> ResponseOutputMessage:
    return ResponseOutputMessage(
        id=FAKE_RESPONSES_ID, type="message", role="assistant", status="completed", content=[part]
    )


def refuse(reason: str, schema: AgentOutputSchemaBase | None) -> ResponseOutputMessage:
    """The reply instead of one that must not be: a text, or where no text fits, a refusal.

    Of an agent with an output type, the SDK raises a refusal as ModelRefusalError.
    """
    if schema is None or schema.is_plain_text():
        return make_message(reason)
    return _make_message(ResponseOutputRefusal(type="refusal", refusal=reason))


def make_response(message: ResponseOutputMessage) -> ModelResponse:
    """A response of no model."""
    return ModelResponse(output=[message], usage=Usage(), response_id=None)


def replace_output(response: ModelResponse, output: list[Any]) -> ModelResponse:
    """The response with another output, or itself."""
    return response if output is response.output else replace(response, output=output)


def stream_message(message: ResponseOutputMessage) -> Iterator[TResponseStreamEvent]:
    """The events by which a model would stream this one message."""
    number = iter(range(100))
    part = message.content[0]
    place: dict[str, Any] = {"item_id": message.id, "output_index": 0, "content_index": 0}
    started = message.model_copy(update={"content": [], "status": "in_progress"})
    yield ResponseOutputItemAddedEvent(
        type="response.output_item.added",
        item=started,
        output_index=0,
        sequence_number=next(number),
    )
    if isinstance(part, ResponseOutputText):
        yield from _stream_text(part, place, number)
    yield ResponseOutputItemDoneEvent(
        type="response.output_item.done",
        item=message,
        output_index=0,
        sequence_number=next(number),
    )
    response = Response(
        id=FAKE_RESPONSES_ID,
        created_at=time.time(),
        model="",
        object="response",
        output=[message],
        tool_choice="none",
        tools=[],
        parallel_tool_calls=False,
    )
    yield ResponseCompletedEvent(
        type="response.completed", response=response, sequence_number=next(number)
    )


def _stream_text(
    part: ResponseOutputText, place: dict[str, Any], number: Iterator[int]
) -> Iterator[TResponseStreamEvent]:
    empty = part.model_copy(update={"text": ""})
    yield ResponseContentPartAddedEvent(
        type="response.content_part.added", part=empty, sequence_number=next(number), **place
    )
    yield ResponseTextDeltaEvent(
        type="response.output_text.delta",
        delta=part.text,
        logprobs=[],
        sequence_number=next(number),
        **place,
    )
    yield ResponseTextDoneEvent(
        type="response.output_text.done",
        text=part.text,
        logprobs=[],
        sequence_number=next(number),
        **place,
    )
    yield ResponseContentPartDoneEvent(
        type="response.content_part.done", part=part, sequence_number=next(number), **place
    )
