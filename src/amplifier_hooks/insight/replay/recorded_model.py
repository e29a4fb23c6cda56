"""The model of a replayed session: it says what it said then."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from amplifier_core import llm_errors
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCall,
)
from amplifier_core.models import ModelInfo, ProviderInfo
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recording import CannotReplay, Recording
from amplifier_hooks.trails import RecordedEvent

_INTERRUPTED = "interrupted"
KEPT = 0.5
"""The share that context-simple keeps unless it is told otherwise."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one try of a request."""

    begin: int
    end: int
    response: Mapping[str, Any] | None = None
    error: Mapping[str, Any] | None = None


class RecordedModel:
    """Answers each request as the recorded one was answered."""

    answers_side_calls = False
    """Questions outside the conversation are not in a trail."""

    def __init__(self, playback: Playback, session: str, kept: float = KEPT) -> None:
        self._playback = playback
        self._session = session
        self._outcomes = collect_outcomes(playback.recording, session)
        first = next(playback.recording.list_events(session, "provider:request"), None)
        self.name = str(first.data.get("provider") or "recorded") if first else "recorded"
        self.model = first.data.get("model") if first else None
        room = find_room(playback.recording, session, kept)
        self._defaults = {} if room is None else {"context_window": room}

    def get_info(self) -> ProviderInfo:
        """What it is."""
        return ProviderInfo(
            id=self.name, display_name="Recorded", capabilities=[], defaults=dict(self._defaults)
        )

    async def list_models(self) -> list[ModelInfo]:
        """A recording has none to choose from."""
        return []

    async def complete(self, request: ChatRequest, **_: Any) -> ChatResponse:
        """The recorded answer to the request that is under way."""
        outcome = await self._take()
        return _read_response(outcome)

    async def stream(self, request: ChatRequest, **_: Any) -> AsyncIterator[StreamChunk]:
        """The same in pieces; an answer that was interrupted is interrupted again."""
        outcome = self._next()
        if outcome is not None and _is_interrupted(outcome):
            for chunk in _split(_read_response(outcome)):
                yield chunk
            await self._playback.wait(outcome.begin, outcome.end)
            await self._playback.wait(outcome.end, None)
        response = _read_response(await self._take())
        for chunk in _split(response):
            yield chunk
        yield StreamChunk("response", len(response.content), response=response)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls of an answer."""
        return list(response.tool_calls or ())

    async def _take(self) -> Outcome:
        outcome = self._next()
        request = self._playback.find_request(self._session) or 0
        if outcome is None or _is_interrupted(outcome):
            if self._playback.keep_going:
                raise llm_errors.InvalidRequestError("The recording has no answer to this request")
            await self._playback.wait(request, None)
            raise AssertionError("unreachable")
        self._outcomes[request].popleft()
        await self._playback.wait(outcome.begin, outcome.end)
        if outcome.error is not None:
            raise make_error(outcome.error)
        return outcome

    def _next(self) -> Outcome | None:
        waiting = self._outcomes.get(self._playback.find_request(self._session) or 0)
        return waiting[0] if waiting else None


def find_room(recording: Recording, session: str, kept: float) -> int | None:
    """The tokens that the recorded model read, if the conversation ever had more.

    `kept` is the share of them that a context keeps when it makes room.
    """
    for one in recording.list_events(session, "context:pre_compact"):
        target = one.data.get("target_tokens")
        if one.data.get("trigger") == "auto" and isinstance(target, int):
            return math.ceil((target + 1) / kept) - 1
    return None


def collect_outcomes(recording: Recording, session: str) -> dict[int, deque[Outcome]]:
    """What came of each request of a session, by its record."""
    found: dict[int, deque[Outcome]] = {}
    request = begin = 0
    for one in recording.list_events(session):
        if one.event == "provider:request":
            request = begin = one.sequence
        elif one.event in ("provider:response", "provider:retry", "provider:error"):
            found.setdefault(request, deque()).append(_make_outcome(one, begin))
            begin = one.sequence
    return found


def _make_outcome(event: RecordedEvent, begin: int) -> Outcome:
    if event.event == "provider:response":
        return Outcome(begin, event.sequence, response=event.data.get("response"))
    return Outcome(begin, event.sequence, error=event.data.get("error") or {})


def _is_interrupted(outcome: Outcome) -> bool:
    return outcome.response is not None and outcome.response.get("finish_reason") == _INTERRUPTED


def _read_response(outcome: Outcome) -> ChatResponse:
    try:
        return ChatResponse.model_validate(outcome.response)
    except ValidationError as error:
        raise CannotReplay(
            f"Record {outcome.end}: the answer of the model is not complete in the trail: "
            f"{error.error_count()} values cannot be used"
        ) from error


def make_error(recorded: Mapping[str, Any]) -> Exception:
    """The error of a provider, with the same name, sentence and say about another try."""
    name, message = str(recorded.get("type") or "LLMError"), str(recorded.get("message") or "")
    found = getattr(llm_errors, name, None)
    kind: type[llm_errors.LLMError]
    if isinstance(found, type) and issubclass(found, llm_errors.LLMError):
        kind = found
    else:
        kind = type(name if name.isidentifier() else "LLMError", (llm_errors.LLMError,), {})
    status = recorded.get("status_code")
    return kind(
        message,
        status_code=status if isinstance(status, int) else None,
        retryable=recorded.get("retryable") is True,
    )


def _split(response: ChatResponse) -> Iterator[StreamChunk]:
    for index, block in enumerate(response.content):
        yield StreamChunk("block_start", index, block.type)
        if isinstance(block, TextBlock):
            yield StreamChunk("text", index, "text", block.text)
        elif isinstance(block, ThinkingBlock):
            yield StreamChunk("thinking", index, "thinking", block.thinking)
        yield StreamChunk("block_end", index, block.type)
