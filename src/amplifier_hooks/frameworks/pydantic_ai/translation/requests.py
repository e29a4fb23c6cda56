"""The messages of a request: as hooks see them, and as they left them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pydantic_ai import InstructionPart
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import PydanticSerializationError, to_json

from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.messages import read_text as read_plain_text
from amplifier_hooks.frameworks.pydantic_ai.translation import contents, replies
from amplifier_hooks.frameworks.pydantic_ai.translation.assembly import Assembly
from amplifier_hooks.frameworks.pydantic_ai.translation.json_values import to_json_values

Instructions = list[InstructionPart]


class Item(NamedTuple):
    """One message as hooks see it, and where it comes from."""

    plain: Plain
    message: int | None
    """Its place among the messages; None are the instructions."""
    part: int | None = None
    """Its place among the parts of a request; None is the whole message."""


class Reader:
    """Reads requests; what stands where it stood in the request before, it does not read again."""

    def __init__(self) -> None:
        self._read: list[tuple[ModelMessage, Sequence[Any], list[Item]]] = []

    def list_items(
        self, messages: Sequence[ModelMessage], instructions: Instructions | None
    ) -> list[Item]:
        """A request as hooks see it: its instructions, then each part that has a text."""
        items = [Item(_describe_instructions(instructions), None)] if instructions else []
        known = len(self._read)
        for number, message in enumerate(messages):
            # The framework puts a new list of parts into a message that it changes.
            if number < known:
                before, parts, read = self._read[number]
                if before is message and parts is message.parts:
                    items += read
                    continue
            read = list(_list_items(message, number))
            self._read[number:] = [(message, message.parts, read)]
            known = number
            items += read
        return items


def _list_items(message: ModelMessage, number: int) -> Iterator[Item]:
    if isinstance(message, ModelResponse):
        yield Item(_describe_response(message), number)
        return
    for place, part in enumerate(message.parts):
        plain = _describe_part(part)
        if plain is not None:
            yield Item(plain, number, place)


def _describe_instructions(instructions: Instructions) -> Plain:
    text = "\n\n".join(part.content for part in instructions)
    return {"role": "system", "content": text}


def _describe_response(response: ModelResponse) -> Plain:
    calls = replies.read_calls(response)
    more = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": replies.read_text(response), **more}


def _describe_part(part: ModelRequestPart) -> Plain | None:
    """What hooks see of a part; None of what only the framework reads."""
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": contents.describe(part.content)}
    if isinstance(part, ToolReturnPart):
        return {
            "role": "tool",
            "tool_call_id": part.tool_call_id,
            "name": part.tool_name,
            "content": _read_return(part),
        }
    if isinstance(part, RetryFeedbackPart):
        return {"role": "user", "content": part.model_response()}
    return None


def _read_return(part: ToolReturnPart) -> str:
    try:
        return part.model_response_str()
    except (PydanticSerializationError, ValueError):  # the model may take what is no text
        return to_json(to_json_values(part.content)).decode()


def rebuild(
    messages: Sequence[ModelMessage],
    instructions: Instructions | None,
    items: Sequence[Item],
    placed: Sequence[Placed],
) -> tuple[list[ModelMessage], Instructions | None]:
    """What hooks left of the messages and the instructions; what they left alone is the same."""
    shown = {(item.message, item.part) for item in items}
    assembly = Assembly(messages, shown)
    left: Instructions | None = [] if instructions else None
    for one in placed:
        item = None if one.index is None else items[one.index]
        if item is None:
            assembly.add(make_message(one.message or {}))
        elif item.message is None:
            left = _change_instructions(instructions or [], one.message)
        elif item.part is None:
            assembly.keep_response(item.message, _change_response(messages, item, one.message))
        else:
            assembly.keep_part(item.message, item.part, _change_part(messages, item, one.message))
    return assembly.finish(), left


def make_message(plain: Plain) -> ModelMessage:
    """A message that a hook added."""
    text = read_plain_text(plain.get("content"))
    if plain.get("role") == "assistant":
        return ModelResponse(parts=[TextPart(text)])
    if plain.get("role") == "system":
        return ModelRequest(parts=[SystemPromptPart(text)])
    return ModelRequest(parts=[UserPromptPart(text)])


def _change_instructions(instructions: Instructions, changed: Plain | None) -> Instructions:
    if changed is None:
        return instructions
    return [InstructionPart(content=read_plain_text(changed.get("content")))]


def _change_response(
    messages: Sequence[ModelMessage], item: Item, changed: Plain | None
) -> ModelResponse | None:
    message = messages[item.message or 0]
    if changed is None or not isinstance(message, ModelResponse):
        return None
    text, calls = read_plain_text(changed.get("content")), changed.get("tool_calls") or []
    return replies.change(
        message,
        None if text == replies.read_text(message) else text,
        None if calls == (item.plain.get("tool_calls") or []) else list(calls),
    )


def _change_part(
    messages: Sequence[ModelMessage], item: Item, changed: Plain | None
) -> ModelRequestPart | None:
    part: Any = messages[item.message or 0].parts[item.part or 0]
    if changed is None:
        return None
    content = changed.get("content")
    if isinstance(part, UserPromptPart):
        return replace(part, content=contents.restore(part.content, content))
    if isinstance(part, ToolReturnPart) and isinstance(content, dict | list):
        return replace(part, content=content)
    if isinstance(part, RetryFeedbackPart):
        return UserPromptPart(read_plain_text(content))  # hooks saw it with its frame
    changed_part: ModelRequestPart = replace(part, content=read_plain_text(content))
    return changed_part
