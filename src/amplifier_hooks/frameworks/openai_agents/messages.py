"""The SDK's input items as messages that hooks read, and back."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, cast

from agents import (
    AgentOutputSchemaBase,
    GuardrailFunctionOutput,
    InputGuardrail,
    InputGuardrailTripwireTriggered,
    ModelResponse,
    TResponseInputItem,
    Usage,
)
from agents.guardrail import InputGuardrailResult
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
from pydantic import BaseModel, TypeAdapter

from amplifier_core.models import ToolResult
from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain, read_text
from amplifier_hooks.external.verdicts import Called, Reply, ReplyVerdict


def read_output(value: Any) -> ToolResult:
    """What hooks see of a result."""
    return ToolResult(output=read_value(value))


def read_value(value: Any) -> Any:
    """A value as JSON has it; what JSON cannot hold is text, as the model would read it."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_none=True, warnings=False)
    if isinstance(value, list | tuple):
        return [read_value(one) for one in value]
    try:
        return json.loads(TypeAdapter(type(value)).dump_json(value, warnings=False))
    except Exception:  # noqa: BLE001 - a tool may return anything
        return str(value)


def write_output(called: Called) -> Any:
    """What the SDK gets of a call."""
    if called.untouched:
        return called.value
    result = called.result
    if is_failed(called):
        return called.text
    # A text stays a text; anything else keeps the form that the hook left.
    is_text = isinstance(called.value, str)
    return called.text if is_text or result.output is None else result.output


def is_failed(called: Called) -> bool:
    """Whether the model reads a reason of ours instead of a result."""
    return not called.untouched and (called.result.denied or not called.result.success)


Item = dict[str, Any]
_TEXTS = ("input_text", "output_text", "text", "refusal", "summary_text", "reasoning_text")
_CALLS = ("function_call", "custom_tool_call")


class CannotWrite(ValueError):
    """A hook left something that the SDK has no item for."""


def read_arguments(raw: str) -> dict[str, Any]:
    """The arguments of a call, or its text where they are no JSON object."""
    try:
        found = json.loads(raw) if raw.strip() else {}
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {"input": raw}


def write_arguments(given: dict[str, Any], raw: str) -> str:
    """The arguments as the SDK wants them: the very text, if nobody changed them."""
    if is_same(given, read_arguments(raw)):
        return raw
    return json.dumps(given, ensure_ascii=False)


def list_items(given: str | Sequence[TResponseInputItem]) -> list[Item]:
    """The items of an input."""
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    return [cast(Item, one) for one in given]


# Reading


def read_items(instructions: str | None, items: Sequence[Item]) -> list[Plain]:
    """One message for the instructions, if there are some, and one for each item."""
    said = [read_item(one) for one in items]
    return said if instructions is None else [{"role": "system", "content": instructions}, *said]


def read_item(item: Item) -> Plain:
    """What hooks see of an item."""
    kind = str(item.get("type") or "message")
    if "role" in item:
        return {"role": item["role"], "content": _read_content(item.get("content"))}
    if kind in _CALLS:
        raw = item.get("arguments") if kind == "function_call" else item.get("input")
        return _read_call(item, str(item.get("name")), read_arguments(str(raw or "")))
    if kind.endswith("_output"):
        content = _read_content(item.get("output"))
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": content}
    if kind.endswith("_call"):
        return _read_call(item, kind.removesuffix("_call"), _read_rest(item))
    return {"role": "assistant", "content": read_text(item.get("summary") or ""), "kind": kind}


def _read_call(item: Item, name: str, arguments: dict[str, Any]) -> Plain:
    call = {"id": item.get("call_id") or item.get("id"), "name": name, "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [call]}


def _read_rest(item: Item) -> dict[str, Any]:
    known = ("type", "id", "call_id", "status")
    return {key: value for key, value in item.items() if key not in known}


def _read_content(content: Any) -> Any:
    if not isinstance(content, list):
        return content if content is None or isinstance(content, str) else json.dumps(content)
    parts = [_read_part(one) for one in content]
    if all(one.get("type") == "text" for one in parts):
        return "".join(one["text"] for one in parts)
    return parts


def _read_part(part: Any) -> dict[str, Any]:
    if isinstance(part, dict) and part.get("type") in _TEXTS:
        return {"type": "text", "text": str(part.get("text") or part.get("refusal") or "")}
    return part if isinstance(part, dict) else {"type": "text", "text": str(part)}


# Writing


def write_items(
    placed: Sequence[Placed], instructions: str | None, items: Sequence[Item]
) -> tuple[str | None, list[TResponseInputItem]]:
    """The instructions and the items that go out."""
    if instructions is None:
        return None, [_write(one, items, 0) for one in placed]
    kept = [one for one in placed if one.index == 0]
    others = [_write(one, items, 1) for one in placed if one.index != 0]
    if not kept:
        return None, others
    changed = kept[0].message
    return instructions if changed is None else read_text(changed.get("content")), others


def _write(placed: Placed, items: Sequence[Item], offset: int) -> TResponseInputItem:
    if placed.index is None:
        made = make_item(placed.message or {})
    elif placed.message is None:
        made = items[placed.index - offset]
    else:
        made = change_item(items[placed.index - offset], placed.message)
    return cast(TResponseInputItem, made)


def make_item(message: Plain) -> Item:
    """An item for what a hook added."""
    role = message.get("role")
    text = read_text(message.get("content"))
    if role in ("user", "assistant", "system", "developer"):
        return {"role": role, "content": text}
    raise CannotWrite(
        f"a hook added a message with the role {role!r}; have user, assistant, system"
    )


def change_item(item: Item, message: Plain) -> Item:
    """An item with what a hook made of it."""
    kind = str(item.get("type") or "message")
    if "role" in item:
        return {**item, "content": _write_content(item.get("content"), message.get("content"))}
    if kind == "function_call":
        return {**item, **_write_call(item, message)}
    if kind == "function_call_output":
        return {**item, "output": _write_content(item.get("output"), message.get("content"))}
    raise CannotWrite(f"a hook changed an item of type {kind!r}, which has to stay as it is")


def _write_call(item: Item, message: Plain) -> Item:
    calls = message.get("tool_calls") or []
    if len(calls) != 1 or calls[0].get("id") != item.get("call_id"):
        raise CannotWrite("a hook changed which call a message of the model is about")
    raw = str(item.get("arguments") or "")
    return {"name": calls[0]["name"], "arguments": write_arguments(calls[0]["arguments"], raw)}


def _write_content(before: Any, after: Any) -> Any:
    """Content in the form it had: a text, or parts with the other parts kept."""
    if not isinstance(before, list):
        return read_text(after)
    if isinstance(after, list):
        return [_write_part(before, one) for one in after]
    others = [one for one in before if not _is_text(one)]
    return [_write_part(before, {"type": "text", "text": str(after)}), *others]


def _write_part(before: list[Any], part: Any) -> Any:
    if not isinstance(part, dict) or part.get("type") != "text":
        return part
    # Parts of the model's own messages have a type of their own.
    kind = next((one["type"] for one in before if _is_text(one)), "input_text")
    made = {"type": "output_text" if kind == "refusal" else kind, "text": part["text"]}
    return {**made, "annotations": []} if made["type"] == "output_text" else made


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in _TEXTS


class PromptDenied(InputGuardrailTripwireTriggered):
    """A hook does not let a run start; programs that know guardrails know what to do."""

    def __init__(self, reason: str) -> None:
        output = GuardrailFunctionOutput(output_info=reason, tripwire_triggered=True)
        guardrail: InputGuardrail[Any] = InputGuardrail(lambda *_: output, name="amplifier")
        super().__init__(InputGuardrailResult(guardrail=guardrail, output=output))
        self.args = (reason,)


def read_prompt(given: Any) -> str:
    """The text of the prompt: of the last message of the user, in a list."""
    if isinstance(given, str):
        return given
    number = _find_last(given)
    return "" if number is None else read_text(read_item(given[number])["content"])


def change_prompt(given: Any, text: str) -> Any:
    """The same start with another prompt."""
    if isinstance(given, str):
        return text
    number = _find_last(given)
    message = {"role": "user", "content": text}
    if number is None:
        return [*given, message]
    return [*given[:number], change_item(given[number], message), *given[number + 1 :]]


def _find_last(items: list[Any]) -> int | None:
    found = [number for number, one in enumerate(items) if one.get("role") == "user"]
    return found[-1] if found else None


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
    calls = [_read_reply_call(one) for one in output if get(one, "type") in _HERE]
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


def _read_reply_call(item: Any) -> dict[str, Any]:
    kind = str(get(item, "type"))
    call_id = str(get(item, "call_id") or get(item, "id") or "")
    if kind in ("function_call", "custom_tool_call"):
        raw = get(item, "arguments") if kind == "function_call" else get(item, "input")
        return {"id": call_id, "name": get(item, "name"), "arguments": read_arguments(str(raw))}
    if isinstance(item, dict):
        values = item
    else:
        values = item.model_dump(mode="json", exclude_none=True, warnings=False)
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
    given = _read_reply_call(item)
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
