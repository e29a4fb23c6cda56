"""provider-scripted: replay a conversation written in advance.

Mounts      a provider, by default under the name "scripted"
Configure   script or script_file, when_done, closing, name, model
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from amplifier_core import llm_errors
from amplifier_core.capabilities import STREAMING, TOOLS
from amplifier_core.errors import ModuleLoadError
from amplifier_core.interfaces import Cleanup, Host
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlock,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_hooks.agent.providers.calls import find_calls, read_call
from amplifier_hooks.agent.providers.info import describe_model
from amplifier_hooks.agent.providers.script import (
    CLOSING,
    Failure,
    Playback,
    Reply,
    ScriptedCall,
    WhenDone,
    read_script,
    split_words,
)
from amplifier_hooks.agent.providers.usage import build_usage
from amplifier_hooks.modules.options import parse_known

_LAPS_WITH_OWN_IDS = 50

_ERRORS: dict[str, tuple[type[llm_errors.LLMError], int | None]] = {
    "rate_limit": (llm_errors.RateLimitError, 429),
    "overloaded": (llm_errors.ProviderUnavailableError, 529),
    "server_error": (llm_errors.ProviderUnavailableError, 500),
    "timeout": (llm_errors.LLMTimeoutError, None),
    "connection": (llm_errors.ProviderUnavailableError, None),
    "authentication": (llm_errors.AuthenticationError, 401),
    "access_denied": (llm_errors.AccessDeniedError, 403),
    "not_found": (llm_errors.NotFoundError, 404),
    "invalid_request": (llm_errors.InvalidRequestError, 400),
    "context_length": (llm_errors.ContextLengthError, 400),
    "content_filter": (llm_errors.ContentFilterError, 400),
}


class ScriptedConfig(BaseModel):
    """The options of provider-scripted."""

    name: str = "scripted"
    model: str = "scripted"
    script: list[Reply] = []
    script_file: Path | None = None
    when_done: WhenDone = "close"
    closing: str = CLOSING


@dataclass(frozen=True, slots=True)
class _Step:
    """A reply, built once before it is asked for."""

    reply: Reply
    response: ChatResponse


class ScriptedProvider:
    """A model whose every word was written beforehand."""

    answers_side_calls = False
    """Whether it may be asked outside the conversation; that would use up a line of the script."""

    def __init__(
        self,
        script: list[Reply],
        *,
        name: str = "scripted",
        model: str = "scripted",
        when_done: WhenDone = "close",
        closing: str = CLOSING,
    ) -> None:
        self._name = name
        self._model = model
        self._playback = Playback(script, when_done)
        self._closing = _build_step(Reply(text=closing), model, "end")
        self._repeated: dict[tuple[int, int], _Step] = {}
        self._steps = [_build_step(reply, model, str(n)) for n, reply in enumerate(script, 1)]

    @property
    def name(self) -> str:
        """The name it is mounted under."""
        return self._name

    @property
    def model(self) -> str:
        """The name of the model in its replies."""
        return self._model

    def get_info(self) -> ProviderInfo:
        """What it is; a script has no limits."""
        return ProviderInfo(
            id=self._name,
            display_name="Script",
            capabilities=[STREAMING, TOOLS],
            defaults={"model": self._model},
        )

    async def list_models(self) -> list[ModelInfo]:
        """The one it plays."""
        return [describe_model(self._model, self.get_info())]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """The next reply of the script, whole."""
        step = self._take_step(request)
        if step.reply.delay:
            await asyncio.sleep(step.reply.delay)
        if step.reply.break_after is not None:
            raise self._make_break()
        return step.response

    async def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]:
        """The next reply of the script, word by word."""
        step = self._take_step(request)
        if step.reply.delay:
            await asyncio.sleep(step.reply.delay)
        for count, chunk in enumerate(_split_into_chunks(step.response)):
            if count == step.reply.break_after:
                raise self._make_break()
            if step.reply.pause:
                await asyncio.sleep(step.reply.pause)
            yield chunk

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls in a reply."""
        return find_calls(response)

    def _take_step(self, request: ChatRequest) -> _Step:
        playback = self._playback
        reply = playback.peek()
        if reply is not None and reply.expect is not None:
            self._check_expectation(request)
        taken = playback.take()
        if isinstance(taken, Reply):
            return self._find_step(taken)
        if taken is not None:
            raise self._make_error(taken)
        if playback.when_done == "raise":
            raise llm_errors.InvalidRequestError(
                f"The script has {len(playback.replies)} replies and all were played",
                provider=self._name,
                model=self._model,
            )
        return self._closing

    def _find_step(self, reply: Reply) -> _Step:
        """The step for a reply. Each round has its own ids, which are reused after some rounds."""
        lap, number = self._playback.lap % _LAPS_WITH_OWN_IDS, self._playback.position
        if not lap or not reply.tool_calls:
            return self._steps[number - 1]
        step = self._repeated.get((number, lap))
        if step is None:
            step = self._repeated[number, lap] = _build_step(reply, self._model, f"{number}_{lap}")
        return step

    def _check_expectation(self, request: ChatRequest) -> None:
        surprise = self._playback.find_surprise(_read_last_words(request))
        if surprise is not None:
            raise llm_errors.InvalidRequestError(surprise, provider=self._name, model=self._model)

    def _make_error(self, failure: Failure) -> llm_errors.LLMError:
        kind, status = _ERRORS[failure.type]
        return kind(
            failure.sentence,
            provider=self._name,
            model=self._model,
            status_code=status,
            retry_after=failure.retry_after,
        )

    def _make_break(self) -> llm_errors.StreamBrokenError:
        return llm_errors.StreamBrokenError(
            "The script breaks this reply off", provider=self._name, model=self._model
        )


def _read_last_words(request: ChatRequest) -> str:
    """Everything since the last reply: hooks may have added something after the question."""
    backwards = takewhile(lambda message: message.role != "assistant", reversed(request.messages))
    return "\n".join(message.text for message in reversed(list(backwards)))


def _build_step(reply: Reply, model: str, mark: str) -> _Step:
    calls = [_read_call(call, f"call_{mark}_{n}") for n, call in enumerate(reply.tool_calls, 1)]
    response = ChatResponse(
        content=_build_blocks(reply, calls),
        tool_calls=calls or None,
        usage=reply.usage or build_usage(output_tokens=reply.output_tokens),
        finish_reason=reply.finish_reason or ("tool_calls" if calls else "stop"),
        model=model,
    )
    return _Step(reply, response)


def _read_call(call: ScriptedCall, fallback_id: str) -> ToolCall:
    written = call.input if call.arguments is None else call.arguments
    return read_call(call.id or fallback_id, call.name, written)


def _build_blocks(reply: Reply, calls: list[ToolCall]) -> list[ContentBlock]:
    blocks: list[ContentBlock] = []
    if reply.thinking is not None:
        blocks.append(ThinkingBlock(thinking=reply.thinking, signature=reply.signature))
    if reply.text:
        blocks.append(TextBlock(text=reply.text))
    blocks += [ToolCallBlock(id=call.id, name=call.name, input=call.arguments) for call in calls]
    return blocks


def _split_into_chunks(response: ChatResponse) -> Iterator[StreamChunk]:
    for index, block in enumerate(response.content):
        yield StreamChunk("block_start", index, block.type)
        if isinstance(block, TextBlock):
            yield from _split_text("text", index, block.text)
        elif isinstance(block, ThinkingBlock):
            yield from _split_text("thinking", index, block.thinking)
        yield StreamChunk("block_end", index, block.type)
    yield StreamChunk("response", len(response.content), response=response)


def _split_text(kind: Literal["text", "thinking"], index: int, text: str) -> Iterator[StreamChunk]:
    for word in split_words(text):
        yield StreamChunk(kind, index, kind, word)


async def mount(coordinator: Host, config: dict[str, Any] | None = None) -> Cleanup | None:
    """Mount the provider under its configured name."""
    options = await parse_known(coordinator, ScriptedConfig, config, "provider-scripted")
    script = await _load_script(options, coordinator)
    provider = ScriptedProvider(
        script,
        name=options.name,
        model=options.model,
        when_done=options.when_done,
        closing=options.closing,
    )
    await coordinator.mount("providers", provider, name=options.name)
    return None


async def _load_script(options: ScriptedConfig, coordinator: Host) -> list[Reply]:
    if options.script_file is None:
        return options.script
    if options.script:
        raise ModuleLoadError("provider-scripted: give either 'script' or 'script_file', not both")
    base = coordinator.get_capability("session.working_dir") or "."
    return await asyncio.to_thread(read_script, Path(base) / options.script_file.expanduser())
