"""What the tests of the providers share: a place to mount, three protocols, short requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    Message,
    StreamChunk,
    ToolSpec,
)
from amplifier_foundation.model_server import ModelServer
from amplifier_foundation.providers import anthropic, openai

BASH = ToolSpec(
    name="Bash",
    description="Run a command.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)


class Place:
    """As much of a coordinator as a provider meets."""

    def __init__(self, working_dir: str | None = None) -> None:
        self.mounted: dict[tuple[str, str], Any] = {}
        self._capabilities = {"session.working_dir": working_dir}

    async def mount(self, point: str, module: Any, name: str | None = None) -> None:
        self.mounted[point, name or module.name] = module

    def get_capability(self, name: str) -> Any:
        return self._capabilities.get(name)


@dataclass(frozen=True)
class Protocol:
    """A wire protocol, with the provider that speaks it."""

    module: Any
    path: str
    options: dict[str, Any]
    prefix: str

    def config(self, server: ModelServer) -> dict[str, Any]:
        url = server.url if self.module is anthropic else server.openai_url
        return {"base_url": url, "api_key": "a-key", "name": "model", **self.options}


MESSAGES = Protocol(anthropic, "/v1/messages", {}, "toolu")
CHAT = Protocol(openai, "/v1/chat/completions", {"api": "chat"}, "call")
RESPONSES = Protocol(openai, "/v1/responses", {"api": "responses"}, "call")
PROTOCOLS = {"messages": MESSAGES, "chat": CHAT, "responses": RESPONSES}


@asynccontextmanager
async def mounted(module: Any, config: dict[str, Any] | None = None) -> AsyncIterator[Any]:
    """The provider that a module mounts, cleaned up at the end."""
    place = Place()
    cleanup = await module.mount(place, config)
    ((_, provider),) = place.mounted.items()
    try:
        yield provider
    finally:
        if cleanup is not None:
            await cleanup()


@asynccontextmanager
async def playing(
    protocol: Protocol, script: Sequence[Any], config: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Any, ModelServer]]:
    """A provider that is connected to a server with this script."""
    async with ModelServer(script, **options) as server:
        settings = protocol.config(server) | (config or {})
        async with mounted(protocol.module, settings) as provider:
            yield provider, server


def asking(text: str = "List the files", **fields: Any) -> ChatRequest:
    return ChatRequest(messages=[Message(role="user", content=text)], **fields)


async def streamed(provider: Any, request: ChatRequest) -> tuple[list[StreamChunk], ChatResponse]:
    chunks = [chunk async for chunk in provider.stream(request)]
    response = chunks[-1].response
    assert response is not None
    return chunks, response


async def replied(provider: Any, request: ChatRequest, way: str) -> ChatResponse:
    """The reply in either way of asking for it."""
    if way == "whole":
        reply: ChatResponse = await provider.complete(request)
        return reply
    return (await streamed(provider, request))[1]
