"""Prompts, requests and replies of Pydantic AI: as hooks see them, and as they left them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any, NamedTuple, cast

from pydantic_ai import InstructionPart, RunContext, TextContent, UserContent, UserPromptNode
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    RetryFeedbackPart,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import PydanticSerializationError, to_json, to_jsonable_python

from amplifier_core.utils.copying import is_same
from amplifier_hooks.external.messages import Placed, Plain
from amplifier_hooks.external.messages import read_text as read_plain_text

Content = str | Sequence[UserContent]

_SHOWN = ("media_type", "url", "identifier", "file_id")


def read_content_text(content: Content | None) -> str:
    """The texts of a content, joined."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (_find_text(one) for one in content)
    return "\n".join(text for text in texts if text is not None)


def put_content_text(content: Content | None, text: str) -> Content:
    """The content with another text; its files stay."""
    if content is None or isinstance(content, str):
        return text
    return [text, *(one for one in content if _find_text(one) is None)]


def describe_content(content: Content) -> str | list[dict[str, Any]]:
    """A content as hooks see it: a text, or a block for each item."""
    if isinstance(content, str):
        return content
    return [_describe_item(one) for one in content]


def restore_content(content: Content, shown: Any) -> Content:
    """The content that hooks made of a description of another one."""
    if not isinstance(shown, list):
        return shown if isinstance(shown, str) else to_json(shown).decode()
    items = [] if isinstance(content, str) else list(content)
    return [_restore_item(items, one) for one in shown]


def _find_text(item: UserContent) -> str | None:
    if isinstance(item, str):
        return item
    return item.content if isinstance(item, TextContent) else None


def _describe_item(item: UserContent) -> dict[str, Any]:
    text = _find_text(item)
    if text is not None:
        return {"type": "text", "text": text}
    shown = {name: getattr(item, name, None) for name in _SHOWN}
    known = {name: value for name, value in shown.items() if isinstance(value, str)}
    return {"type": getattr(item, "kind", type(item).__name__), **known}


def _restore_item(items: Sequence[UserContent], shown: Any) -> UserContent:
    for item in items:
        if _describe_item(item) == shown:
            return item
    if isinstance(shown, dict) and isinstance(shown.get("text"), str):
        return str(shown["text"])
    return shown if isinstance(shown, str) else to_json(shown).decode()


def to_json_values(value: Any) -> Any:
    """The value as JSON has it; what JSON has no form for is described. Never raises."""
    try:
        return to_jsonable_python(value, serialize_unknown=True)
    except (PydanticSerializationError, ValueError):
        pass  # such as bytes that are no text
    try:
        return to_jsonable_python(value, bytes_mode="base64", serialize_unknown=True)
    except Exception:  # noqa: BLE001 - a foreign serializer may raise anything
        return f"<{type(value).__qualname__} that cannot be shown>"


def find_prompt(ctx: RunContext[Any]) -> Content | None:
    """What the caller asks: the argument, or the end of the history it passed on."""
    if ctx.prompt is not None:
        return ctx.prompt
    part = _find_part(ctx.messages)
    return None if part is None else part.content


def _find_part(messages: list[ModelMessage]) -> UserPromptPart | None:
    last = messages[-1] if messages else None
    if not isinstance(last, ModelRequest):
        return None
    return next((one for one in reversed(last.parts) if isinstance(one, UserPromptPart)), None)


def replace_prompt(
    ctx: RunContext[Any], node: UserPromptNode[Any, Any], text: str
) -> UserPromptNode[Any, Any]:
    """The first node of the run with another text in its prompt; the history will have it, too."""
    if node.user_prompt is not None:
        return replace(node, user_prompt=put_content_text(node.user_prompt, text))
    part = _find_part(ctx.messages)
    last = ctx.messages[-1]
    if part is not None and isinstance(last, ModelRequest):
        changed = replace(part, content=put_content_text(part.content, text))
        parts = [changed if one is part else one for one in last.parts]
        ctx.messages[-1] = replace(last, parts=parts)
    return node


Calls = list[dict[str, Any]]


def read_reply_text(response: ModelResponse) -> str:
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


def write_reply(response: ModelResponse, text: str) -> ModelResponse:
    """The reply with nothing but a text in it."""
    return replace(response, parts=[TextPart(text)], finish_reason="stop")


def change_reply(response: ModelResponse, text: str | None, calls: Calls | None) -> ModelResponse:
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
    name = str(call["name"])
    arguments = dict(call["arguments"])
    if name == part.tool_name and is_same(arguments, part.args_as_dict()):
        return part
    # A provider that keeps its own copy of an item goes by `id`, and would send the old one.
    return replace(part, tool_name=name, args=arguments, id=None)


def _make_call(call: Mapping[str, Any]) -> ToolCallPart:
    return ToolCallPart(str(call["name"]), dict(call["arguments"]), str(call["id"]))


Place = tuple[int | None, int | None]


class Assembly:
    """Takes what is to be sent in order; parts of one request stay together.

    Parts that hooks are not shown go with the others of their request, and a request that has
    nothing but such parts always stays.
    """

    def __init__(self, messages: Sequence[ModelMessage], shown: AbstractSet[Place]) -> None:
        self._messages = messages
        self._shown = shown
        self._seen = {number for number, _ in shown}
        self._made: list[ModelMessage] = []
        self._source: int | None = None
        self._parts: list[ModelRequestPart] = []
        self._next_part = 0
        self._next_message = 0

    def keep_part(self, number: int, place: int, changed: ModelRequestPart | None) -> None:
        """Put a part of a request, or what a hook made of it."""
        if number != self._source:
            self._close()
            self._pass_unseen(number)
            self._source = number
            self._next_part = 0
        self._pass_hidden(place)
        self._next_part = max(self._next_part, place + 1)
        kept = self._get_request(number).parts[place]
        self._parts.append(kept if changed is None else changed)

    def keep_response(self, number: int, changed: ModelResponse | None) -> None:
        """Put a reply of the model, or what a hook made of it."""
        self._close()
        self._pass_unseen(number)
        self._made.append(self._messages[number] if changed is None else changed)

    def add(self, message: ModelMessage) -> None:
        """Put a message that was not there; what is asked joins the request that is open."""
        if isinstance(message, ModelRequest) and (self._parts or self._source is not None):
            self._parts.extend(message.parts)
            return
        self._close()
        self._made.append(message)

    def finish(self) -> list[ModelMessage]:
        """All messages."""
        self._close()
        self._pass_unseen(len(self._messages))
        return self._made

    def _get_request(self, number: int) -> ModelRequest:
        return cast(ModelRequest, self._messages[number])

    def _pass_hidden(self, until: int) -> None:
        """Put the parts that hooks are not shown, up to a place."""
        if self._source is None:
            return
        parts = self._get_request(self._source).parts
        for place in range(self._next_part, until):
            if (self._source, place) not in self._shown:
                self._parts.append(parts[place])

    def _pass_unseen(self, until: int) -> None:
        """Put the messages of which hooks are shown nothing, up to a place."""
        for number in range(self._next_message, until):
            if number not in self._seen:
                self._made.append(self._messages[number])
        self._next_message = max(self._next_message, until)

    def _close(self) -> None:
        """End the request that is open."""
        if self._source is None:
            return
        source = self._get_request(self._source)
        self._pass_hidden(len(source.parts))
        same = len(self._parts) == len(source.parts) and all(
            one is other for one, other in zip(self._parts, source.parts, strict=True)
        )
        self._made.append(source if same else replace(source, parts=self._parts))
        self._source = None
        self._parts = []
        self._next_part = 0


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
    calls = read_calls(response)
    more = {"tool_calls": calls} if calls else {}
    return {"role": "assistant", "content": read_reply_text(response), **more}


def _describe_part(part: ModelRequestPart) -> Plain | None:
    """What hooks see of a part; None of what only the framework reads."""
    if isinstance(part, SystemPromptPart):
        return {"role": "system", "content": part.content}
    if isinstance(part, UserPromptPart):
        return {"role": "user", "content": describe_content(part.content)}
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


def rebuild_request(
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
    text = read_plain_text(changed.get("content"))
    calls = changed.get("tool_calls") or []
    return change_reply(
        message,
        None if text == read_reply_text(message) else text,
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
        return replace(part, content=restore_content(part.content, content))
    if isinstance(part, ToolReturnPart) and isinstance(content, dict | list):
        return replace(part, content=content)
    if isinstance(part, RetryFeedbackPart):
        return UserPromptPart(read_plain_text(content))  # hooks saw it with its frame
    changed_part: ModelRequestPart = replace(part, content=read_plain_text(content))
    return changed_part
