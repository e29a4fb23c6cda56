"""What the providers that call a server have in common: options, keys, the SDK, its errors."""

from __future__ import annotations

import asyncio
import importlib
import os
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, Field, SecretStr

from amplifier_core.llm_errors import (
    AuthenticationError,
    LLMError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from amplifier_core.message_models import ChatRequest, ChatResponse, StreamChunk, ToolCall
from amplifier_foundation.providers.calls import calls_of
from amplifier_foundation.providers.conversation import SystemMessages
from amplifier_foundation.providers.failures import Origin, translate
from amplifier_foundation.providers.reply import response_of


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

    def params(self, request: ChatRequest, config: Any, base_url: str | None) -> dict[str, Any]:
        """The arguments of the SDK's call."""

    async def call(self, client: Any, params: dict[str, Any]) -> Any:
        """Send it; with `stream` in the params the answer is a stream of events."""

    def read(self, answer: Any, origin: Origin) -> Iterator[StreamChunk]:
        """Take a whole answer apart."""

    def follow(self, events: Any, origin: Origin) -> AsyncGenerator[StreamChunk, None]:
        """Take a streamed answer apart as it comes."""


class ArrivingReply(Protocol):
    """A reply that is put together from the events of a stream."""

    @property
    def complete(self) -> bool:
        """Whether the model has said all of it."""

    def feed(self, event: Any) -> Iterator[StreamChunk]:
        """What one event tells."""

    def finish(self) -> Iterator[StreamChunk]:
        """The end, with the whole reply."""


async def follow(
    events: Any, reply: ArrivingReply, origin: Origin
) -> AsyncGenerator[StreamChunk, None]:
    """Feed every event to the reply; a stream that ends before it is an error."""
    async for event in events:
        for chunk in reply.feed(event):
            yield chunk
    if not reply.complete:
        raise origin.error(StreamBrokenError, "the stream ended before the reply did")
    for chunk in reply.finish():
        yield chunk


@dataclass(frozen=True, slots=True)
class Vendor:
    """The SDK of a vendor, and where it gets its settings from."""

    sdk: str
    client: str
    key_variable: str
    url_variable: str
    key_optional_elsewhere: bool = False


class RemoteProvider:
    """A provider on top of an official SDK, which is imported with the first request."""

    def __init__(self, config: RemoteConfig, vendor: Vendor, wire: Wire) -> None:
        self.config = config
        self._vendor = vendor
        self._wire = wire
        self._client: Any = None
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

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """The whole reply of the model."""
        origin = self._origin(request)
        client = await self._connected(origin)
        with _translated(origin):
            answer = await self._wire.call(client, self._params(request))
            return response_of(self._wire.read(answer, origin))

    async def stream(
        self, request: ChatRequest, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """The reply piece by piece; closing the iterator closes the connection."""
        origin = self._origin(request)
        client = await self._connected(origin)
        with _translated(origin):
            events = await self._wire.call(client, self._params(request) | {"stream": True})
        last: StreamChunk | None = None
        try:
            with _translated(origin, streaming=True):
                async with aclosing(self._wire.follow(events, origin)) as chunks:
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
        return calls_of(response)

    async def close(self) -> None:
        """Close the connections to the server."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _params(self, request: ChatRequest) -> dict[str, Any]:
        params = self._wire.params(request, self.config, self.base_url)
        params["extra_body"] = params.get("extra_body", {}) | self.config.extra
        return {name: value for name, value in params.items() if value not in (None, [], {}, "")}

    def _origin(self, request: ChatRequest) -> Origin:
        return Origin(self.name, request.model or self.config.model)

    async def _connected(self, origin: Origin) -> Any:
        async with self._connecting:
            if self._client is None:
                key = self._key(origin)
                # Importing an SDK takes seconds, and a new client reads certificates.
                self._client = await asyncio.to_thread(self._new_client, key, origin)
        return self._client

    def _key(self, origin: Origin) -> str:
        configured = self.config.api_key
        key = configured.get_secret_value() if configured else ""
        key = key.strip() or os.environ.get(self._vendor.key_variable, "").strip()
        if key:
            return key
        if self.base_url and self._vendor.key_optional_elsewhere:
            return "none"
        raise origin.error(
            AuthenticationError,
            f"no API key; set the environment variable {self._vendor.key_variable} "
            f"or 'api_key' in the provider's config",
        )

    def _new_client(self, key: str, origin: Origin) -> Any:
        sdk = _imported(self._vendor.sdk, origin)
        seconds = self.config.timeout
        return getattr(sdk, self._vendor.client)(
            api_key=key,
            base_url=self.base_url,
            timeout=sdk.Timeout(seconds, connect=min(seconds, 15.0)),
            max_retries=0,  # the loop retries, and says so
            default_headers=self.config.headers or None,
        )


def _imported(name: str, origin: Origin) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as failure:
        raise origin.error(
            ProviderUnavailableError,
            f"the package {name!r} is missing; install amplifier-hooks[{name}]",
            retryable=False,
        ) from failure


@contextmanager
def _translated(origin: Origin, *, streaming: bool = False) -> Iterator[None]:
    try:
        yield
    except LLMError:
        raise
    except Exception as failure:
        raise translate(failure, origin, streaming=streaming) from failure


def object_schema(parameters: dict[str, Any]) -> dict[str, Any]:
    """The schema of a tool's input; servers insist on its being an object."""
    return {"type": "object", "properties": {}} | parameters


async def mount_remote(coordinator: Any, provider: RemoteProvider) -> Callable[[], Any]:
    """Mount under the configured name; the cleanup closes the connections."""
    await coordinator.mount("providers", provider, name=provider.name)
    return provider.close
