"""provider-local: a small model that runs inside the process.

Mounts      a provider, by default under the name "local"
Configure   model (a GGUF file), context_tokens, threads, max_output_tokens, temperature, seed,
            calls_per_prompt, result_limit, extra, name
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator, Iterator
from contextlib import aclosing
from typing import Any

from pydantic import BaseModel, Field
from pydantic_core import from_json

from amplifier_core.capabilities import LOCAL, STREAMING, TOOLS
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.llm_errors import (
    ContextLengthError,
    InvalidRequestError,
    LLMError,
    ProviderUnavailableError,
    StreamBrokenError,
)
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    StreamChunk,
    ToolCall,
    ToolSpec,
    Usage,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_hooks.agent.providers.calls import find_calls
from amplifier_hooks.agent.providers.embedded import EmbeddedModel, MissingModel, load_model
from amplifier_hooks.agent.providers.failures import Origin
from amplifier_hooks.agent.providers.info import describe_model
from amplifier_hooks.agent.providers.local_question import (
    build_schema,
    choose_tools,
    write_messages,
)
from amplifier_hooks.agent.providers.reply import ReplyBuilder
from amplifier_hooks.agent.providers.usage import build_usage
from amplifier_hooks.modules.options import parse_known


class LocalConfig(BaseModel):
    """The options of provider-local."""

    name: str = "local"
    model: str | None = None
    context_tokens: int = Field(4096, ge=256)
    threads: int = Field(1, ge=1)
    max_output_tokens: int = Field(256, ge=1)
    temperature: float = Field(0.0, ge=0)
    seed: int = 0
    result_limit: int = Field(1500, ge=100)
    calls_per_prompt: int = Field(1, ge=1)
    extra: dict[str, Any] = {}


class LocalProvider:
    """A provider whose model is loaded into the process with the first request."""

    def __init__(self, config: LocalConfig) -> None:
        self.config = config
        self._origin = Origin(config.name, self.model)

    @property
    def name(self) -> str:
        """The name it is mounted under."""
        return self.config.name

    @property
    def model(self) -> str:
        """The file of the model, or the name of the one that comes as a package."""
        return self.config.model or "smollm2"

    def get_info(self) -> ProviderInfo:
        """What it is, and how much it can read and write."""
        return ProviderInfo(
            id=self.name,
            display_name="Local model",
            capabilities=[LOCAL, STREAMING, TOOLS],
            defaults={
                "model": self.model,
                "context_window": self.config.context_tokens,
                "max_output_tokens": self.config.max_output_tokens,
            },
        )

    async def list_models(self) -> list[ModelInfo]:
        """The one it loads."""
        return [describe_model(self.model, self.get_info())]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """The whole reply of the model."""
        async with aclosing(self.stream(request)) as chunks:
            async for chunk in chunks:
                if chunk.response is not None:
                    return chunk.response
        raise self._origin.make_error(StreamBrokenError, "the model stopped without a reply")

    async def stream(
        self, request: ChatRequest, **kwargs: Any
    ) -> AsyncGenerator[StreamChunk, None]:
        """The reply as it is written; with tools on offer, it comes in one piece."""
        model = await self._load_model()
        tools = choose_tools(request, self.config.calls_per_prompt)
        question = self._build_question(request, tools)
        reply = _Reply(self._origin, constrained="response_format" in question)
        async with aclosing(model.ask(question)) as parts:
            async for part in parts:
                for chunk in reply.feed(part):
                    yield chunk
        for chunk in reply.finish():
            yield chunk

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls in a reply."""
        return find_calls(response)

    async def _load_model(self) -> EmbeddedModel:
        options = self.config
        try:
            return await asyncio.to_thread(
                load_model, options.model, options.context_tokens, options.threads
            )
        except MissingModel as missing:
            failure = self._origin.make_error(
                ProviderUnavailableError, str(missing), retryable=False
            )
            raise failure from missing

    def _build_question(self, request: ChatRequest, tools: list[ToolSpec]) -> dict[str, Any]:
        options = self.config
        own = request.temperature
        question = {
            "messages": write_messages(request, tools, options.result_limit),
            "max_tokens": request.max_output_tokens or options.max_output_tokens,
            "temperature": options.temperature if own is None else own,
            "seed": options.seed,
            "stop": request.stop or [],
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.tools and request.tool_choice != "none":
            question["response_format"] = build_schema(tools, request.tool_choice)
        return question | options.extra


class _Reply:
    """The model's answer as it is written: text or, under a schema, one JSON object."""

    def __init__(self, origin: Origin, *, constrained: bool) -> None:
        self._origin = origin
        self._constrained = constrained
        self._builder = ReplyBuilder()
        self._written: list[str] = []
        self._finish_reason: str | None = None
        self._usage: Usage | None = None

    def feed(self, part: dict[str, Any]) -> Iterator[StreamChunk]:
        if "error" in part:
            raise self._make_error(part["error"])
        if usage := part.get("usage"):
            self._usage = _read_usage(usage)
        for choice in part.get("choices") or []:
            yield from self._add_choice(choice)

    def _add_choice(self, choice: dict[str, Any]) -> Iterator[StreamChunk]:
        self._finish_reason = choice.get("finish_reason") or self._finish_reason
        text = choice.get("delta", {}).get("content") or ""
        self._written.append(text)
        if text and not self._constrained:
            yield from self._builder.add_text("text", "text", text)

    def finish(self) -> Iterator[StreamChunk]:
        if self._finish_reason is None:
            raise self._origin.make_error(StreamBrokenError, "the model stopped in mid-reply")
        called = False
        if self._constrained:
            written = "".join(self._written)
            called = yield from self._read_answer(written)
        reason = "tool_calls" if called else self._finish_reason
        yield from self._builder.finish(
            usage=self._usage, finish_reason=reason, model=self._origin.model
        )

    def _read_answer(self, written: str) -> Generator[StreamChunk, None, bool]:
        said, whole = _parse_object(written)
        if "tool" in said:
            # A call that ran out of tokens must not run: as text its arguments cannot be read.
            given = said.get("input", {}) if whole else written
            yield from self._builder.open_block(0, "tool_call", name=str(said["tool"]), input=given)
            return True
        yield from self._builder.add_text("text", "text", str(said.get("reply", written)))
        return False

    def _make_error(self, error: Any) -> LLMError:
        facts = error if isinstance(error, dict) else {"message": str(error)}
        too_long = facts.get("type") == "exceed_context_size_error"
        kind = ContextLengthError if too_long else InvalidRequestError
        return self._origin.make_error(
            kind, str(facts.get("message")), status_code=facts.get("code")
        )


def _parse_object(written: str) -> tuple[dict[str, Any], bool]:
    """The JSON object as far as it goes, and whether that is all of it."""
    for partial in (False, "trailing-strings"):
        try:
            value = from_json(written, allow_partial=partial)
        except ValueError:
            continue
        return (value if isinstance(value, dict) else {}), not partial
    return {}, False


def _read_usage(usage: dict[str, Any]) -> Usage:
    return build_usage(
        input_tokens=usage.get("prompt_tokens", 0),
        output_tokens=usage.get("completion_tokens", 0),
        cache_read_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
    )


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the provider under its configured name."""
    options = await parse_known(coordinator, LocalConfig, config, "provider-local")
    await coordinator.mount("providers", LocalProvider(options), name=options.name)
    return None
