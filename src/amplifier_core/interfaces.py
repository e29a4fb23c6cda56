"""The protocols of every kind of module. Implementing one needs no base class."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict, Field

from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk, ToolCall
from amplifier_core.models import HookResult, ToolResult

Cleanup = Callable[[], Any]


@runtime_checkable
class HookHandler(Protocol):
    """Answers to an event. A function, a bound method or an object with `__call__`."""

    def __call__(
        self, event: str, data: dict[str, Any]
    ) -> Awaitable[HookResult | dict[str, Any] | None] | HookResult | dict[str, Any] | None: ...


@runtime_checkable
class Tool(Protocol):
    """Does something the agent asked for. `input_schema` is the JSON schema of its input."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...

    async def execute(self, input: dict[str, Any]) -> ToolResult: ...


@runtime_checkable
class Provider(Protocol):
    """Calls a model. Failures are `llm_errors`."""

    @property
    def name(self) -> str: ...

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse: ...

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]: ...


@runtime_checkable
class StreamingProvider(Provider, Protocol):
    """A provider that can also hand out its reply piece by piece."""

    def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]: ...


@runtime_checkable
class TokenCounter(Protocol):
    """A provider or context that can count tokens better than four characters each."""

    def count_tokens(self, text: str) -> int: ...


@runtime_checkable
class ContextManager(Protocol):
    """Holds the conversation: dicts with role, content, metadata and timestamp.

    `add_message` takes `(role, content, metadata=None)` or one dict. An assistant message that
    calls tools has `tool_calls` (id, name, arguments), a tool's answer has role `tool` and
    `tool_call_id`. `get_messages` returns a list that may be awaited too.
    """

    def add_message(self, *args: Any, **kwargs: Any) -> Any: ...
    def get_messages(self) -> Any: ...
    def set_messages(self, messages: list[dict[str, Any]]) -> Any: ...
    def clear(self) -> Any: ...


@runtime_checkable
class Orchestrator(Protocol):
    """Runs one turn: asks the model, runs its tools, until it has said its last word."""

    async def execute(
        self,
        prompt: str,
        context: Any,
        providers: Mapping[str, Any],
        tools: Mapping[str, Any],
        hooks: Any,
        **kwargs: Any,
    ) -> str: ...


class ApprovalRequest(BaseModel):
    """A question to an approval provider of the ecosystem."""

    model_config = ConfigDict(extra="ignore")

    tool_name: str
    action: str
    details: dict[str, Any] = Field(default_factory=dict)
    risk_level: Literal["low", "medium", "high", "critical"] = "medium"
    timeout: float | None = Field(default=None, gt=0)


class ApprovalResponse(BaseModel):
    """Its answer."""

    model_config = ConfigDict(extra="ignore")

    approved: bool
    reason: str | None = None
    remember: bool = False


@runtime_checkable
class ApprovalProvider(Protocol):
    """Asks a person on behalf of a hook module."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse: ...


HookFunction = TypeVar("HookFunction", bound=Callable[..., Any])


def hook(*events: str, **options: Any) -> Callable[[HookFunction], HookFunction]:
    """Mark a function of a plain hook file: `@hook("tool:pre", priority=5, on_error="deny")`.

    A bundle that names the file registers every marked function; the options are those of
    `HookRegistry.register`.
    """
    if not events or not all(isinstance(event, str) for event in events):
        raise TypeError(f"@hook needs the names of events, such as 'tool:pre', got {events!r}")

    def mark(function: HookFunction) -> HookFunction:
        function.__amplifier_hook__ = {"events": events, "options": options}  # type: ignore[attr-defined]
        return function

    return mark


@runtime_checkable
class Mountable(Protocol):
    """A module: `mount` returns what undoes it, or None."""

    async def mount(self, coordinator: Any, config: dict[str, Any]) -> Cleanup | None: ...
