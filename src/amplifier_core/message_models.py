"""The messages that go to a model and come back from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

MessageRole = Literal["system", "developer", "user", "assistant", "tool", "function"]


class _Value(BaseModel):
    model_config = ConfigDict(extra="allow")


class TextBlock(_Value):
    """Plain text."""

    type: Literal["text"] = "text"
    text: str


class ThinkingBlock(_Value):
    """The model's reasoning; the signature must go back unchanged."""

    type: Literal["thinking"] = "thinking"
    thinking: str
    signature: str | None = None


class ToolCallBlock(_Value):
    """A tool call inside a reply's content."""

    type: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    input: dict[str, Any] = Field(default_factory=dict)


class ToolResultBlock(_Value):
    """A tool's answer inside a message's content."""

    type: Literal["tool_result"] = "tool_result"
    tool_call_id: str
    output: Any = None
    is_error: bool = False


ContentBlock = TextBlock | ThinkingBlock | ToolCallBlock | ToolResultBlock


class ToolCall(_Value):
    """The model wants a tool run. `parse_error` is set when its arguments could not be read."""

    id: str
    name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    parse_error: str | None = None


class Message(_Value):
    """One message of the conversation, in the same shape as the dicts of a context."""

    role: MessageRole
    content: str | list[ContentBlock] | None = None
    name: str | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The readable part."""
        return extract_text(self.content)


class ToolSpec(_Value):
    """What a model is told about a tool; `parameters` is a JSON schema."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] = Field(default_factory=lambda: {"type": "object", "properties": {}})


class Usage(_Value):
    """Tokens of one call; the cache figures are parts of input_tokens."""

    input_tokens: int = 0
    output_tokens: int = 0
    total_tokens: int = 0
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None

    @model_validator(mode="after")
    def _sum_up(self) -> Usage:
        if not self.total_tokens:
            self.total_tokens = self.input_tokens + self.output_tokens
        return self


class ChatRequest(_Value):
    """One request to a model."""

    messages: list[Message]
    tools: list[ToolSpec] | None = None
    model: str | None = None
    temperature: float | None = None
    max_output_tokens: int | None = None
    tool_choice: str | dict[str, Any] | None = None
    stop: list[str] | None = None
    metadata: dict[str, Any] | None = None


_REQUEST = {name: field.default for name, field in ChatRequest.model_fields.items()}


def build_request(messages: list[Message], tools: list[ToolSpec] | None) -> ChatRequest:
    """A request of parts that are validated already; it is made for every call of a model."""
    request = ChatRequest.__new__(ChatRequest)
    values = {**_REQUEST, "messages": messages, "tools": tools}
    object.__setattr__(request, "__dict__", values)
    object.__setattr__(request, "__pydantic_fields_set__", {"messages", "tools"})
    object.__setattr__(request, "__pydantic_extra__", {})
    object.__setattr__(request, "__pydantic_private__", None)
    return request


class ChatResponse(_Value):
    """One reply of a model."""

    content: list[ContentBlock] = Field(default_factory=list)
    tool_calls: list[ToolCall] | None = None
    usage: Usage | None = None
    finish_reason: str | None = None
    model: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def text(self) -> str:
        """The readable part."""
        return extract_text(self.content)


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
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(block.text for block in content if isinstance(block, TextBlock))
