"""The messages that go to a model and come back from it.

Every model keeps the fields that it does not know, so that what a newer version or a provider adds
survives. What only we know is kept the same way: dumps have the fields that everybody has.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainSerializer


def _refuse_float(value: Any) -> Any:
    if isinstance(value, float):
        raise ValueError("a cost must be Decimal, int or str: a float has lost digits already")  # noqa: TRY004 - pydantic reports it
    return value


def _write(cost: Decimal | None) -> str | None:
    if cost is None:
        return None
    return str(cost)


CostUsd = Annotated[
    Decimal | None,
    BeforeValidator(_refuse_float),
    PlainSerializer(_write, return_type=str | None),
]
"""A cost in dollars. None is unknown, which is not zero; every dump writes a string."""


MessageRole = Literal["system", "developer", "user", "assistant", "function", "tool"]
Visibility = Literal["internal", "developer", "user"]

T = TypeVar("T")


class _Own(Generic[T]):
    """A field of ours among the unknown ones: None unless it was given.

    The class does not show it, so that a subclass may declare a field of that name.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: BaseModel | None, owner: type) -> T | None:
        if instance is None:
            raise AttributeError(self.name)
        extra = instance.__pydantic_extra__
        if extra:
            return extra.get(self.name)
        return None


class _Text:
    """The readable part of the content, unless a text was given."""

    def __get__(self, instance: Any, owner: type) -> str:
        if instance is None:
            raise AttributeError("text")
        extra = instance.__pydantic_extra__
        given = extra.get("text") if extra else None
        if given is None:
            return extract_text(instance.content)
        return str(given)


class _Value(BaseModel):
    model_config = ConfigDict(extra="allow", defer_build=True, ignored_types=(_Own, _Text))


# Blocks of content


class _Block(_Value):
    type: str
    visibility: Visibility | None = None


class TextBlock(_Block):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class ThinkingBlock(_Block):
    """The model's reasoning; the signature must go back unchanged."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None
    content: list[Any] | None = None


class RedactedThinkingBlock(_Block):
    """Reasoning that only the provider can read; it must go back unchanged."""

    type: Literal["redacted_thinking"] = "redacted_thinking"
    data: str


class ToolCallBlock(_Block):
    """A tool call inside a reply's content."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: dict[str, Any]


class ToolResultBlock(_Block):
    """A tool's answer inside a message's content."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    output: Any
    is_error = _Own[bool]()  # type: ignore[pydantic-field]


class ImageBlock(_Block):
    """A picture; `source` is `{"type": "base64", "media_type": …, "data": …}` or has a `url`."""

    type: Literal["image"] = "image"
    source: dict[str, Any]


class ReasoningBlock(_Block):
    """Reasoning in parts, with its summary."""

    type: Literal["reasoning"] = "reasoning"
    content: list[Any]
    summary: list[Any]


ContentBlock = Annotated[
    TextBlock
    | ThinkingBlock
    | RedactedThinkingBlock
    | ToolCallBlock
    | ToolResultBlock
    | ImageBlock
    | ReasoningBlock,
    Field(discriminator="type"),
]
ContentBlockUnion = ContentBlock
"""The name that it has for existing providers."""


# Messages and tools


class Message(_Value):
    """One message of the conversation, in the same shape as the dicts of a context.

    A reply that calls tools has `tool_calls`, a list of dicts in the form its loop writes.
    """

    role: MessageRole
    content: str | list[ContentBlock]
    name: str | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Any] | None = None
    text = _Text()  # type: ignore[pydantic-field]


class ToolSpec(_Value):
    """What a model is told about a tool; `parameters` is a JSON schema."""

    name: str
    parameters: dict[str, Any]
    description: str | None = None


class ToolCall(_Value):
    """The model wants a tool run. `parse_error` is set when its arguments could not be read."""

    id: str
    name: str
    arguments: dict[str, Any]
    parse_error = _Own[str]()  # type: ignore[pydantic-field]


class Usage(_Value):
    """Tokens of one call; the cache figures are parts of input_tokens."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    reasoning_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_usd: CostUsd = None


# Requests


class ResponseFormatText(_Value):
    """The reply is plain text."""

    type: Literal["text"] = "text"


class ResponseFormatJson(_Value):
    """The reply is a JSON document."""

    type: Literal["json"] = "json"


class ResponseFormatJsonSchema(_Value):
    """The reply is a JSON document that follows a schema."""

    model_config = ConfigDict(populate_by_name=True)

    type: Literal["json_schema"] = "json_schema"
    json_schema: dict[str, Any] = Field(alias="schema")
    strict: bool | None = None


ResponseFormat = Annotated[
    ResponseFormatText | ResponseFormatJson | ResponseFormatJsonSchema,
    Field(discriminator="type"),
]


class ChatRequest(_Value):
    """One request to a model."""

    messages: list[Message]
    tools: list[ToolSpec] | None = None
    response_format: ResponseFormat | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_output_tokens: int | None = None
    conversation_id: str | None = None
    stream: bool | None = False
    metadata: dict[str, Any] | None = None
    model: str | None = None
    tool_choice: str | dict[str, Any] | None = None
    stop: list[str] | None = None
    reasoning_effort: str | None = None
    timeout: float | None = None


# Replies


class Degradation(_Value):
    """Something that was asked for, and what was delivered instead."""

    requested: str
    actual: str
    reason: str


class ChatResponse(_Value):
    """One reply of a model."""

    content: list[ContentBlock]
    tool_calls: list[ToolCall] | None = None
    usage: Usage | None = None
    degradation: Degradation | None = None
    finish_reason: str | None = None
    metadata: dict[str, Any] | None = None
    model = _Own[str]()  # type: ignore[pydantic-field]
    text = _Text()  # type: ignore[pydantic-field]


@dataclass(frozen=True, slots=True)
class StreamChunk:
    """One step of a streamed reply: blocks open, grow and close, and the response comes last."""

    kind: Literal["block_start", "text", "thinking", "block_end", "response"]
    index: int = 0
    block_type: str = "text"
    text: str = ""
    response: ChatResponse | None = None


def extract_text(content: str | list[Any] | None) -> str:
    """The text blocks of a content, joined; other blocks have none."""
    if isinstance(content, str):
        return content
    if not content:
        return ""
    if len(content) == 1 and isinstance(content[0], TextBlock):  # as most replies are
        return content[0].text
    return "".join([block.text for block in content if isinstance(block, TextBlock)])
