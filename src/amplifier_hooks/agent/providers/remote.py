"""Shared by providers that call a server: options, keys, the SDK, its errors."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Hashable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from pydantic import BaseModel, Field, SecretStr

from amplifier_core.capabilities import STREAMING, THINKING, TOOLS, VISION
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import (
    AuthenticationError,
    LLMError,
    NotFoundError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlock,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    Usage,
)
from amplifier_core.models import ConfigField, ModelInfo, ProviderInfo
from amplifier_hooks.agent.providers.conversation import SystemMessages, find_calls, read_call
from amplifier_hooks.agent.providers.failures import Origin, SdkErrors, find_sdk_errors, translate
from amplifier_hooks.modules.conversation import ensure_distinct_ids
from amplifier_hooks.modules.installation import name_install_command

_CAPABILITIES = [TOOLS, STREAMING, THINKING, VISION]


def describe_remote(
    provider_id: str, title: str, variables: tuple[str, str], defaults: dict[str, Any]
) -> ProviderInfo:
    """A provider that calls a server; `variables` hold its key and its address."""
    key, address = variables
    return ProviderInfo(
        id=provider_id,
        display_name=title,
        credential_env_vars=[key],
        capabilities=_CAPABILITIES,
        defaults={name: value for name, value in defaults.items() if value is not None},
        config_fields=[
            ConfigField(
                id="api_key",
                display_name="API key",
                field_type="secret",
                prompt=f"The API key of {title}",
                env_var=key,
            ),
            ConfigField(
                id="base_url",
                display_name="Server",
                prompt=f"The address of the server, if it is not {title}'s own",
                env_var=address,
                required=False,
            ),
            ConfigField(
                id="model",
                display_name="Model",
                prompt="The model to ask",
                required=False,
                default=defaults.get("model"),
            ),
        ],
    )


def describe_model(
    model: str, info: ProviderInfo, *, title: str | None = None, **known: int | None
) -> ModelInfo:
    """A model; a figure that neither the server nor the provider knows is 0."""
    window = known.get("context_window") or info.defaults.get("context_window")
    output = known.get("max_output_tokens") or info.defaults.get("max_output_tokens")
    return ModelInfo(
        id=model,
        display_name=title or model,
        context_window=window or 0,
        max_output_tokens=output or 0,
        capabilities=info.capabilities,
    )


BlockType = Literal["text", "thinking", "tool_call"]


@dataclass(slots=True)
class _OpenBlock:
    """An unfinished block: its text so far, and what else is known about it."""

    index: int
    type: BlockType
    pieces: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


class ReplyBuilder:
    """Collects the blocks of one reply. One block is open at a time; opening the next closes it."""

    def __init__(self) -> None:
        self._blocks: dict[Hashable, _OpenBlock] = {}
        self._open: _OpenBlock | None = None

    def open_block(self, key: Hashable, type: BlockType, **facts: Any) -> Iterator[StreamChunk]:
        """Begin a block, unless there is one under `key`; `facts` are added in any case."""
        block = self._blocks.get(key)
        if block is None:
            yield from self.close_block()
            block = self._blocks[key] = _OpenBlock(len(self._blocks), type)
            self._open = block
            yield StreamChunk("block_start", block.index, type)
        block.facts.update(_drop_none(facts))

    def add_text(self, key: Hashable, type: BlockType, text: str) -> Iterator[StreamChunk]:
        """Add to a block, and begin it if need be; arguments of tools are not passed on."""
        yield from self.open_block(key, type)
        block = self._blocks[key]
        if text:
            block.pieces.append(text)
        if text and block.type != "tool_call":
            yield StreamChunk(block.type, block.index, block.type, text)

    def add_facts(self, key: Hashable, **facts: Any) -> None:
        """Add what is known about a block, such as its signature; there is no chunk for it."""
        if key in self._blocks:
            self._blocks[key].facts.update(facts)

    def get_text(self, key: Hashable) -> str:
        """The text of a block so far."""
        return self._blocks[key].text if key in self._blocks else ""

    def close_block(self) -> Iterator[StreamChunk]:
        """End the block that is open."""
        if self._open is not None:
            yield StreamChunk("block_end", self._open.index, self._open.type)
        self._open = None

    def finish(
        self, *, usage: Usage | None, finish_reason: str | None, model: str | None, **facts: Any
    ) -> Iterator[StreamChunk]:
        """End the reply: the last chunk carries all of it."""
        yield from self.close_block()
        calls = self._read_calls()
        content = (_build_block(block, calls.get(key)) for key, block in self._blocks.items())
        response = ChatResponse(
            content=[block for block in content if block is not None],
            tool_calls=list(calls.values()) or None,
            usage=usage,
            # Some servers say "stop" when they mean that the tools are to run.
            finish_reason="tool_calls" if calls and finish_reason == "stop" else finish_reason,
            model=model,
            metadata=_drop_none(facts) or None,
        )
        yield StreamChunk("response", len(self._blocks), response=response)

    def _read_calls(self) -> dict[Hashable, ToolCall]:
        """The calls by the keys of their blocks; streamed arguments win over whole ones."""
        blocks = {key: one for key, one in self._blocks.items() if one.type == "tool_call"}
        calls = [
            read_call(
                one.facts.get("id"),
                one.facts.get("name") or "",
                one.text if one.pieces else one.facts.get("input"),
            )
            for one in blocks.values()
        ]
        return dict(zip(blocks, ensure_distinct_ids(calls), strict=True))


def _build_block(block: _OpenBlock, call: ToolCall | None) -> ContentBlock | None:
    if call is not None:
        return ToolCallBlock(id=call.id, name=call.name, input=call.arguments)
    if block.type == "thinking":
        return ThinkingBlock(thinking=block.text, **block.facts)
    return TextBlock(text=block.text) if block.text else None


def _drop_none(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if fact is not None}


def collect_response(chunks: Iterator[StreamChunk]) -> ChatResponse:
    """The whole reply at the end of its chunks."""
    *_, last = chunks
    if last.response is None:
        raise ValueError("the chunks end without a response")
    return last.response


SYNONYMS = {"default_model": "model", "max_tokens": "max_output_tokens"}
"""What providers of the ecosystem call these options."""


class RemoteConfig(BaseModel):
    """The options of every provider that calls a server."""

    name: str = ""
    model: str = ""
    api_key: SecretStr | None = None
    base_url: str | None = None
    max_output_tokens: int | None = Field(None, gt=0)
    temperature: float | None = Field(None, ge=0)
    timeout: float = Field(600.0, gt=0)
    system_messages: SystemMessages | None = None
    headers: dict[str, str] = {}
    extra: dict[str, Any] = {}


class Wire(Protocol):
    """A protocol on the wire: how a request is written and how its answer is read."""

    def build_params(
        self, request: ChatRequest, config: Any, base_url: str | None
    ) -> dict[str, Any]:
        """The arguments of the SDK's call."""

    async def send(self, client: Any, params: dict[str, Any]) -> Any:
        """Send it; with `stream` in the params the answer is a stream of events."""

    def read_reply(self, answer: Any, origin: Origin) -> Iterator[StreamChunk]:
        """Read a whole answer."""

    def follow_stream(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Read a streamed answer as it arrives."""


class ArrivingReply(Protocol):
    """A reply that is built from the events of a stream."""

    @property
    def complete(self) -> bool:
        """Whether the model has said all of it."""

    def feed(self, event: Any) -> Iterator[StreamChunk]:
        """Read one event."""

    def finish(self) -> Iterator[StreamChunk]:
        """End the reply; the last chunk has all of it."""


async def follow_events(
    events: Any, reply: ArrivingReply, origin: Origin
) -> AsyncGenerator[StreamChunk, None]:
    """Feed every event to the reply; a stream that ends before the reply does is an error."""
    async for event in events:
        for chunk in reply.feed(event):
            yield chunk
    if not reply.complete:
        raise origin.make_error(StreamBrokenError, "the stream ended before the reply did")
    for chunk in reply.finish():
        yield chunk


@dataclass(frozen=True, slots=True)
class Vendor:
    """The SDK of a vendor, and where it gets its settings from."""

    sdk: str
    client: str
    key_variable: str
    url_variable: str
    title: str
    key_optional_elsewhere: bool = False
    context_window: int | None = None
    max_output_tokens: int | None = None


class RemoteProvider:
    """A provider on top of an official SDK, which is imported with the first request."""

    def __init__(self, config: RemoteConfig, vendor: Vendor, wire: Wire) -> None:
        self.config = config
        self._vendor = vendor
        self._wire = wire
        self._client: Any = None
        self._errors = SdkErrors()
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        """The name it is mounted under."""
        return self.config.name

    @property
    def model(self) -> str:
        """The model that is asked unless a request names another."""
        return self.config.model

    @property
    def base_url(self) -> str | None:
        """The server, unless it is the SDK's own."""
        return self.config.base_url or os.environ.get(self._vendor.url_variable) or None

    def get_info(self) -> ProviderInfo:
        """What it is, what it can do, and what it needs to be told."""
        vendor = self._vendor
        window = None if self.base_url else vendor.context_window  # other servers, other models
        defaults = {
            "model": self.config.model,
            "temperature": self.config.temperature,
            "max_output_tokens": self.config.max_output_tokens or vendor.max_output_tokens,
            "context_window": window,
        }
        variables = (vendor.key_variable, vendor.url_variable)
        return describe_remote(self.name, vendor.title, variables, defaults)

    async def list_models(self) -> list[ModelInfo]:
        """What the server offers; only the configured model if it has no list, or without a key."""
        origin = Origin(self.name)
        info = self.get_info()
        try:
            self._find_key(origin)
        except AuthenticationError:
            return [describe_model(self.model, info)]
        client = await self._connect(origin)
        try:
            with self._translate_errors(origin):
                return [_read_model(one, info) async for one in client.models.list()]
        except NotFoundError:
            return [describe_model(self.model, info)]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """The whole reply of the model."""
        origin = self._find_origin(request)
        client = await self._connect(origin)
        with self._translate_errors(origin):
            answer = await self._wire.send(client, self._build_params(request))
            return collect_response(self._wire.read_reply(answer, origin))

    async def stream(
        self, request: ChatRequest, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """The reply piece by piece; closing the iterator closes the connection."""
        origin = self._find_origin(request)
        client = await self._connect(origin)
        with self._translate_errors(origin):
            events = await self._wire.send(client, self._build_params(request) | {"stream": True})
        last: StreamChunk | None = None
        try:
            with self._translate_errors(origin, streaming=True):
                async with aclosing(self._wire.follow_stream(events, origin)) as chunks:
                    async for chunk in chunks:
                        if chunk.response is None:
                            yield chunk
                        last = chunk
        finally:
            await events.close()
        # Most listeners leave with the response; by then the connection is closed already.
        if last is not None:
            yield last

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls in a reply."""
        return find_calls(response)

    async def close(self) -> None:
        """Close the connections to the server."""
        client = self._client
        self._client = None
        if client is not None:
            await client.close()

    def _build_params(self, request: ChatRequest) -> dict[str, Any]:
        params = self._wire.build_params(request, self.config, self.base_url)
        params["extra_body"] = params.get("extra_body", {}) | self.config.extra
        return {name: value for name, value in params.items() if value not in (None, [], {}, "")}

    def _find_origin(self, request: ChatRequest) -> Origin:
        return Origin(self.name, choose_model(request, self.config))

    async def _connect(self, origin: Origin) -> Any:
        async with self._connecting:
            if self._client is None:
                key = self._find_key(origin)
                # Importing an SDK takes seconds, and a new client reads certificates.
                self._client = await asyncio.to_thread(self._create_client, key, origin)
        return self._client

    def _find_key(self, origin: Origin) -> str:
        configured = self.config.api_key
        key = configured.get_secret_value() if configured else ""
        key = key.strip() or os.environ.get(self._vendor.key_variable, "").strip()
        if key:
            return key
        if self.base_url and self._vendor.key_optional_elsewhere:
            return "none"
        raise origin.make_error(
            AuthenticationError,
            f"no API key; set the environment variable {self._vendor.key_variable} "
            f"or 'api_key' in the provider's config",
        )

    def _create_client(self, key: str, origin: Origin) -> Any:
        sdk = _import_sdk(self._vendor.sdk, origin)
        self._errors = find_sdk_errors(sdk)
        seconds = self.config.timeout
        return getattr(sdk, self._vendor.client)(
            api_key=key,
            base_url=self.base_url,
            timeout=sdk.Timeout(seconds, connect=min(seconds, 15.0)),
            max_retries=0,  # the loop retries, and says so
            default_headers=self.config.headers or None,
        )

    @contextmanager
    def _translate_errors(self, origin: Origin, *, streaming: bool = False) -> Iterator[None]:
        try:
            yield
        except LLMError:
            raise
        except Exception as failure:
            raise translate(failure, origin, self._errors, streaming=streaming) from failure


def _read_model(found: Any, info: ProviderInfo) -> ModelInfo:
    return describe_model(
        found.id,
        info,
        title=getattr(found, "display_name", None),
        context_window=getattr(found, "max_input_tokens", None),
        max_output_tokens=getattr(found, "max_tokens", None),
    )


def _import_sdk(name: str, origin: Origin) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as failure:
        raise origin.make_error(
            ProviderUnavailableError,
            f"the package {name!r} is missing; install it with: {name_install_command(name)}",
            retryable=False,
        ) from failure


def choose_model(request: ChatRequest, config: RemoteConfig) -> str:
    """The model of the request, else that of the config."""
    return request.model or config.model


def choose_output_limit(request: ChatRequest, config: RemoteConfig) -> int | None:
    """The most tokens to write, by the request, else by the config."""
    return request.max_output_tokens or config.max_output_tokens


def choose_temperature(request: ChatRequest, config: RemoteConfig) -> float | None:
    """The temperature of the request, else that of the config."""
    return config.temperature if request.temperature is None else request.temperature


def complete_schema(parameters: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's input with all that servers insist on."""
    return {"type": "object", "properties": {}} | parameters


async def mount_remote(coordinator: Host, provider: RemoteProvider) -> Cleanup:
    """Mount under the configured name; the cleanup closes the connections."""
    await coordinator.mount("providers", provider, name=provider.name)
    return provider.close
