"""The protocols of every kind of module. Implementing one needs no base class."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from typing import Any, Protocol, runtime_checkable

from amplifier_core.events import DataT, EventOf
from amplifier_core.handlers import Registering, Reply
from amplifier_core.handlers import hook as hook
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk, ToolCall
from amplifier_core.models import ApprovalRequest as ApprovalRequest
from amplifier_core.models import ApprovalResponse as ApprovalResponse
from amplifier_core.models import HookResult, Level, ModelInfo, ProviderInfo, ToolResult

Cleanup = Callable[[], Any]


@runtime_checkable
class HookHandler(Protocol):
    """Answers to an event. A function, a bound method or an object with `__call__`."""

    def __call__(self, event: str, data: dict[str, Any], /) -> Awaitable[Reply] | Reply: ...


class Tool(Protocol):
    """Does something the agent asked for. `input_schema` is the JSON schema of its input."""

    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]:
        return {}

    async def execute(self, input: dict[str, Any]) -> ToolResult: ...


@runtime_checkable
class Provider(Protocol):
    """Calls a model. Failures are `llm_errors`."""

    @property
    def name(self) -> str: ...

    def get_info(self) -> ProviderInfo: ...
    async def list_models(self) -> list[ModelInfo]: ...
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


class Conversation(Protocol):
    """What the kernel needs of a context: hooks may add to it."""

    def add_message(self, *args: Any, **kwargs: Any) -> Any: ...


@runtime_checkable
class ContextManager(Conversation, Protocol):
    """Holds the conversation: dicts with role, content, metadata and timestamp.

    `add_message` takes `(role, content, metadata=None)` or one dict. An assistant message that
    calls tools has `tool_calls` (id, name, arguments), a tool's answer has role `tool` and
    `tool_call_id`. `get_messages` is all of it, and may be awaited too; loops send what they await
    from `get_messages_for_request(token_budget=None, provider=None)`, which makes room first.

    A context whose `keeps_results_with_calls` is True puts a tool's answer directly behind the
    call, whatever was added meanwhile. To others, what hooks inject is added after the answers.
    """

    def get_messages(self) -> Any: ...
    def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> Any: ...
    def set_messages(self, messages: list[dict[str, Any]]) -> Any: ...
    def clear(self) -> Any: ...


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


@runtime_checkable
class ApprovalProvider(Protocol):
    """Asks a person on behalf of a hook module."""

    async def request_approval(self, request: ApprovalRequest) -> ApprovalResponse: ...


class Hooks(Registering, Protocol):
    """The registry as a module sees it: it registers there, and may tell of events of its own."""

    def unregister(self, name: str) -> int: ...
    def declare(self, *names: str) -> None: ...
    def has_listeners(self, event: str) -> bool: ...
    def list_handlers(self, event: str | None = None) -> dict[str, list[str]]: ...
    async def emit(self, event: str, data: Mapping[str, Any] | None = None) -> HookResult: ...
    async def emit_and_collect(
        self, event: str, data: Mapping[str, Any] | None = None, timeout: float = 1.0
    ) -> list[Any]: ...


class Cancellation(Protocol):
    """The wish that a run should stop, as a module sees it."""

    @property
    def is_cancelled(self) -> bool: ...
    @property
    def is_immediate(self) -> bool: ...

    def on_cancel(self, callback: Callable[[], Any]) -> Callable[[], None]: ...


class Host(Protocol):
    """What a mounted module sees of its session: everything here, and nothing that decides."""

    session_state: dict[str, Any]
    """A place for state that is saved with the session."""

    @property
    def session_id(self) -> str | None: ...
    @property
    def parent_id(self) -> str | None: ...
    @property
    def config(self) -> dict[str, Any]: ...
    @property
    def hooks(self) -> Hooks: ...
    @property
    def cancellation(self) -> Cancellation: ...

    async def mount(self, mount_point: str, module: Any, name: str | None = None) -> None: ...
    async def unmount(self, mount_point: str, name: str | None = None) -> None: ...
    def get(self, mount_point: str, name: str | None = None) -> Any: ...

    def register_capability(self, name: str, value: Any) -> None: ...
    def get_capability(self, name: str) -> Any: ...
    def register_contributor(
        self, channel: str, name: str | Callable[[], Any], callback: Callable[[], Any] | None = None
    ) -> None: ...
    async def collect_contributions(self, channel: str) -> list[Any]: ...
    def register_cleanup(self, cleanup: Callable[[], Any]) -> None: ...

    def register_scrubber(self, scrubber: Callable[[str], str]) -> Callable[[], None]: ...
    def scrub(self, value: Any) -> Any: ...
    async def show(self, message: str, level: Level, source: str) -> None: ...
    def notify(self, event: EventOf[DataT], data: DataT) -> Coroutine[Any, Any, None]: ...
    async def request_cancel(self, immediate: bool = False) -> None: ...


@runtime_checkable
class Mountable(Protocol):
    """A module: `mount` returns what undoes it, or None."""

    async def mount(self, coordinator: Host, config: dict[str, Any]) -> Cleanup | None: ...
