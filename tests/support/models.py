"""Models for tests: a provider, the protocol it speaks, and a server that plays a script."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from amplifier_core.message_models import ChatRequest, ChatResponse, Message, StreamChunk, ToolSpec
from amplifier_core.testing import TestCoordinator
from amplifier_hooks.agent.model_server import ModelServer
from amplifier_hooks.agent.providers import anthropic, openai
from tests.support.harness import finish

BASH = ToolSpec(
    name="Bash",
    description="Run a command.",
    parameters={
        "type": "object",
        "properties": {"command": {"type": "string"}},
        "required": ["command"],
    },
)


@dataclass(frozen=True)
class Protocol:
    """A wire protocol, with the provider that speaks it; `prefix` begins the ids of its calls."""

    module: Any
    path: str
    options: dict[str, Any]
    prefix: str

    @property
    def provider(self) -> str:
        """The provider's name in a mount plan."""
        return "provider-anthropic" if self.module is anthropic else "provider-openai"

    def config(self, server: ModelServer) -> dict[str, Any]:
        """The options for a provider that asks this server."""
        url = server.url if self.module is anthropic else server.openai_url
        return {"base_url": url, "api_key": "a-key", "name": "model", **self.options}


MESSAGES = Protocol(anthropic, "/v1/messages", {}, "toolu")
CHAT = Protocol(openai, "/v1/chat/completions", {"api": "chat"}, "call")
RESPONSES = Protocol(openai, "/v1/responses", {"api": "responses"}, "call")
PROTOCOLS = {"messages": MESSAGES, "chat": CHAT, "responses": RESPONSES}


@asynccontextmanager
async def mount_provider(module: Any, config: dict[str, Any] | None = None) -> AsyncIterator[Any]:
    """The provider that a module mounts, cleaned up at the end."""
    host = TestCoordinator()
    cleanup = await module.mount(host, config)
    (provider,) = host.get("providers").values()
    try:
        yield provider
    finally:
        await finish(cleanup)


@asynccontextmanager
async def serve_script(
    protocol: Protocol, script: Sequence[Any], config: dict[str, Any] | None = None, **options: Any
) -> AsyncIterator[tuple[Any, ModelServer]]:
    """A provider that is connected to a server with this script."""
    async with ModelServer(script, **options) as server:
        settings = protocol.config(server) | (config or {})
        async with mount_provider(protocol.module, settings) as provider:
            yield provider, server


def make_request(text: str = "List the files", **fields: Any) -> ChatRequest:
    """A request of one message."""
    return ChatRequest(messages=[Message(role="user", content=text)], **fields)


async def stream_reply(
    provider: Any, request: ChatRequest
) -> tuple[list[StreamChunk], ChatResponse]:
    """All chunks of a reply, and the reply."""
    chunks = [chunk async for chunk in provider.stream(request)]
    response = chunks[-1].response
    assert response is not None
    return chunks, response


async def fetch_reply(provider: Any, request: ChatRequest, way: str) -> ChatResponse:
    """The reply in either way of asking for it: "whole" or "streamed"."""
    if way == "whole":
        reply: ChatResponse = await provider.complete(request)
        return reply
    return (await stream_reply(provider, request))[1]
