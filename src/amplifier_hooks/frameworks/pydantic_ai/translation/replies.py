"""A reply of a model: as hooks see it, and as they left it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from pydantic_ai.messages import ModelResponse, ModelResponsePart, TextPart, ToolCallPart

from amplifier_core.utils.copying import is_same

Calls = list[dict[str, Any]]


def read_text(response: ModelResponse) -> str:
    """What the model said."""
    return "".join(part.content for part in response.parts if isinstance(part, TextPart))


def read_calls(response: ModelResponse) -> Calls:
    """The tools that it wants called."""
    return [
        {"id": part.tool_call_id, "name": part.tool_name, "arguments": part.args_as_dict()}
        for part in response.parts
        if isinstance(part, ToolCallPart)
    ]


def read_usage(response: ModelResponse) -> dict[str, int]:
    """What it cost."""
    usage = response.usage
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
    }


def say(response: ModelResponse, text: str) -> ModelResponse:
    """The reply with nothing but a text in it."""
    return replace(response, parts=[TextPart(text)], finish_reason="stop")


def change(response: ModelResponse, text: str | None, calls: Calls | None) -> ModelResponse:
    """The reply with another text, or other calls; None is what stays as it was."""
    parts: list[ModelResponsePart] = list(response.parts)
    if text is not None:
        parts = _change_text(parts, text)
    if calls is not None:
        parts = _change_calls(parts, calls)
    return replace(response, parts=parts)


def _change_text(parts: Iterable[ModelResponsePart], text: str) -> list[ModelResponsePart]:
    """The new text stands where the first one stood, before the calls at the latest."""
    left: list[ModelResponsePart] = []
    put = not text
    for part in parts:
        if not put and isinstance(part, TextPart | ToolCallPart):
            left.append(TextPart(text))
            put = True
        if not isinstance(part, TextPart):
            left.append(part)
    return left if put else [*left, TextPart(text)]


def _change_calls(parts: Iterable[ModelResponsePart], calls: Calls) -> list[ModelResponsePart]:
    wanted = {str(call.get("id")): call for call in calls}
    left: list[ModelResponsePart] = []
    for part in parts:
        if not isinstance(part, ToolCallPart):
            left.append(part)
        elif (call := wanted.pop(part.tool_call_id, None)) is not None:
            left.append(_change_call(part, call))
    return [*left, *(_make_call(call) for call in wanted.values())]


def _change_call(part: ToolCallPart, call: Mapping[str, Any]) -> ToolCallPart:
    name, arguments = str(call["name"]), dict(call["arguments"])
    if name == part.tool_name and is_same(arguments, part.args_as_dict()):
        return part
    # A provider that keeps its own copy of an item goes by `id`, and would send the old one.
    return replace(part, tool_name=name, args=arguments, id=None)


def _make_call(call: Mapping[str, Any]) -> ToolCallPart:
    return ToolCallPart(str(call["name"]), dict(call["arguments"]), str(call["id"]))
