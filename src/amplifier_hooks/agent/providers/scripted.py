"""provider-scripted: replay a conversation written in advance.

Mounts      a provider, by default under the name "scripted"
Configure   script or script_file, when_done, closing, name, model
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

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
    Usage,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_core.utils.text import estimate_tokens
from amplifier_hooks.agent.providers.conversation import (
    build_usage,
    complete_counts,
    find_calls,
    read_call,
)
from amplifier_hooks.machine.text import clip_text
from amplifier_hooks.modules.options import parse_config, parse_known

FailureType = Literal[
    "rate_limit",
    "overloaded",
    "server_error",
    "timeout",
    "connection",
    "authentication",
    "access_denied",
    "not_found",
    "invalid_request",
    "context_length",
    "content_filter",
]
WhenDone = Literal["close", "raise", "repeat"]

CLOSING = "The script is finished."

_WORD = re.compile(r"\s*\S+|\s+\Z")


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Failure(_Line):
    """An error before a reply, `times` in a row; in a stream, `after` this many events."""

    type: FailureType
    message: str = ""
    retry_after: float | None = Field(None, ge=0)
    times: int = Field(1, ge=1)
    after: int | None = Field(None, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _from_word(cls, value: Any) -> Any:
        return {"type": value} if isinstance(value, str) else value

    @property
    def sentence(self) -> str:
        """What the caller reads."""
        return self.message or f"The script says {self.type.replace('_', ' ')}."


class ScriptedCall(_Line):
    """A tool call. `arguments`, if given, is sent as it is, so it may be malformed."""

    name: str
    input: dict[str, Any] = Field(default_factory=dict)
    arguments: str | None = None
    id: str | None = None

    @property
    def written_arguments(self) -> str:
        """The arguments as the model writes them, which need not be JSON."""
        if self.arguments is not None:
            return self.arguments
        return json.dumps(self.input, ensure_ascii=False)


class Reply(_Line):
    """One reply of the model, which may be empty."""

    text: str = ""
    thinking: str | None = None
    signature: str | None = None
    tool_calls: tuple[ScriptedCall, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    expect: str | None = None
    delay: float = Field(0.0, ge=0)
    pause: float = Field(0.0, ge=0)
    break_after: int | None = Field(None, ge=0)
    error: Failure | None = None

    @field_validator("usage", mode="before")
    @classmethod
    def _complete_usage(cls, value: Any) -> Any:
        return complete_counts(value) if isinstance(value, Mapping) else value

    @property
    def only_fails(self) -> bool:
        """Whether the error is all there is, so that the next request gets the next reply."""
        return self.error is not None and not (self.text or self.thinking or self.tool_calls)

    @property
    def output_tokens(self) -> int:
        """An estimate of its size."""
        calls = "".join(call.written_arguments for call in self.tool_calls)
        return estimate_tokens(self.text + (self.thinking or "") + calls)


def split_words(text: str) -> list[str]:
    """The text in the pieces it is streamed in: words, each with the space before it."""
    return _WORD.findall(text)


class _File(_Line):
    script: list[Reply]


def replies_of(script: Sequence[Reply | Mapping[str, Any]], owner: str = "script") -> list[Reply]:
    """Validate a script that was written in Python or in a config."""
    lines = [line if isinstance(line, Reply) else dict(line) for line in script]
    return parse_config(_File, {"script": lines}, owner).script


def read_script(path: str | Path) -> list[Reply]:
    """Read a YAML file: a list of replies, or a mapping with the list under `script`."""
    path = Path(path)
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as failure:
        reason = " ".join(str(failure).split())
        raise ModuleLoadError(f"The script {str(path)!r} cannot be read: {reason}") from failure
    document = content if isinstance(content, Mapping) else {"script": content}
    return parse_config(_File, document, f"script {path.name}").script


class Playback:
    """Walks through a script: which reply is next, and which error comes before it."""

    def __init__(self, replies: Sequence[Reply], when_done: WhenDone = "close") -> None:
        self.replies = tuple(replies)
        self.when_done = when_done
        self.position = 0
        self.lap = 0
        self._failed = 0

    def peek(self) -> Reply | None:
        """The reply to the next request, or None after the end of the script."""
        if self.position >= len(self.replies) and self.when_done == "repeat" and self.replies:
            self.position = 0
            self.lap = self.lap + 1
        return self.replies[self.position] if self.position < len(self.replies) else None

    def find_surprise(self, said: str) -> str | None:
        """A sentence about a request that the script does not expect; None if it does.

        `said` is everything that was said to the model since its last reply.
        """
        reply = self.peek()
        if reply is None or reply.expect is None or reply.expect in said:
            return None
        return (
            f"Reply {self.position + 1} of the script expects {reply.expect!r} in what was said "
            f"last, which is {clip_text(said, 120)!r}"
        )

    def pop(self) -> Reply | Failure | None:
        """Take the next reply or failure; None after the end of the script."""
        reply = self.peek()
        if reply is None:
            return None
        if reply.error is not None and self._failed < reply.error.times:
            return self._fail(reply, reply.error)
        self._advance()
        return reply

    def _fail(self, reply: Reply, error: Failure) -> Failure:
        self._failed += 1
        if reply.only_fails and self._failed >= error.times:
            self._advance()
        return error

    def _advance(self) -> None:
        self.position += 1
        self._failed = 0


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
        # What speaks to real models is not needed to play a script.
        from amplifier_hooks.agent.providers.remote import describe_model

        return [describe_model(self._model, self.get_info())]

    async def complete(self, request: ChatRequest, **kwargs: Any) -> ChatResponse:
        """The next reply of the script, whole."""
        step = self._next_step(request)
        if step.reply.delay:
            await asyncio.sleep(step.reply.delay)
        if step.reply.break_after is not None:
            raise self._make_break()
        return step.response

    async def stream(self, request: ChatRequest, **kwargs: Any) -> AsyncIterator[StreamChunk]:
        """The next reply of the script, word by word."""
        step = self._next_step(request)
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

    def _next_step(self, request: ChatRequest) -> _Step:
        playback = self._playback
        reply = playback.peek()
        if reply is not None and reply.expect is not None:
            self._check_expectation(request)
        taken = playback.pop()
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
        lap = self._playback.lap % _LAPS_WITH_OWN_IDS
        number = self._playback.position
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
