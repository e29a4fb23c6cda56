"""The model and the tools of a replayed session: they return what they returned then."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from amplifier_core import llm_errors
from amplifier_core.errors import AmplifierError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    StreamChunk,
    TextBlock,
    ThinkingBlock,
    ToolCall,
)
from amplifier_core.models import ModelInfo, ProviderInfo, ToolResult
from amplifier_core.tool_call import call_tool
from amplifier_hooks.agent.tools import todo
from amplifier_hooks.insight.replay.playback import Playback, current_call
from amplifier_hooks.insight.replay.recorded_answers import make_exception
from amplifier_hooks.insight.replay.recording import CannotReplay, Recording, Spans
from amplifier_hooks.trails import RecordedCall, RecordedEvent

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
        outcome = await self._pop_outcome()
        return _read_response(outcome)

    async def stream(self, request: ChatRequest, **_: Any) -> AsyncIterator[StreamChunk]:
        """The same in pieces; an answer that was interrupted is interrupted again."""
        outcome = self._next()
        if outcome is not None and _is_interrupted(outcome):
            for chunk in _split_response(_read_response(outcome)):
                yield chunk
            await self._playback.wait(outcome.begin, outcome.end)
            await self._playback.wait(outcome.end, None)
        response = _read_response(await self._pop_outcome())
        for chunk in _split_response(response):
            yield chunk
        yield StreamChunk("response", len(response.content), response=response)

    def parse_tool_calls(self, response: ChatResponse) -> list[ToolCall]:
        """The calls of an answer."""
        return list(response.tool_calls or ())

    async def _pop_outcome(self) -> Outcome:
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
    name = str(recorded.get("type") or "LLMError")
    message = str(recorded.get("message") or "")
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


def _split_response(response: ChatResponse) -> Iterator[StreamChunk]:
    for index, block in enumerate(response.content):
        yield StreamChunk("block_start", index, block.type)
        if isinstance(block, TextBlock):
            yield StreamChunk("text", index, "text", block.text)
        elif isinstance(block, ThinkingBlock):
            yield StreamChunk("thinking", index, "thinking", block.thinking)
        yield StreamChunk("block_end", index, block.type)


_DELEGATE = "Delegate"
TODO = todo.Todo.name
_TOLD_BY_TOOLS = frozenset({"artifact:read", "artifact:write"})


@dataclass(slots=True)
class CallOutcome:
    """What came of a call."""

    begin: int
    end: int | None = None
    outcome: str = ""
    result: Any = None
    error: Mapping[str, Any] | None = None


class Outcomes:
    """What came of each call of a recording, by the record of its start."""

    def __init__(self, recording: Recording) -> None:
        self._found: dict[int, CallOutcome] = {}
        self._last: dict[tuple[str, str], CallOutcome] = {}
        self._told: dict[str, list[RecordedEvent]] = {}
        self._spans: dict[str, Spans] = {}
        for session, items in recording.sessions.items():
            self._told[session] = list_told(recording, session)
            self._spans[session] = Spans(items)
            for item in items:
                self._read(session, item)

    def _read(self, session: str, item: Any) -> None:
        if isinstance(item, RecordedCall):
            last = self._last.get((session, item.call_id))
            if item.stage == "started":
                started = self._found[item.sequence] = CallOutcome(item.sequence)
                self._last[session, item.call_id] = started
            elif last is not None and last.end is None and item.outcome != "unknown":
                last.end = item.sequence
                last.outcome = item.outcome
        elif isinstance(item, RecordedEvent) and not item.again:
            last = self._last.get((session, str(item.data.get("tool_call_id"))))
            if last is not None and item.event == "tool:post":
                last.result = item.data.get("tool_result")
            elif last is not None and item.event == "tool:error":
                last.error = item.data.get("error") or {}

    def pop_output(self, session: str, outcome: CallOutcome) -> list[RecordedEvent]:
        """What tools told of while a call ran; of several calls at once, any may have."""
        if outcome.end is None:
            return []
        told = self._told[session]
        spans = self._spans[session]
        span = (outcome.begin, outcome.end)
        taken = [one for one in told if spans.is_inside(one, span)]
        self._told[session] = [one for one in told if one not in taken]
        return taken

    def pop(self, call: RecordedCall | None) -> CallOutcome | None:
        """What came of a call, once."""
        return None if call is None else self._found.pop(call.sequence, None)


class RecordedTool:
    """Stands for a tool of the recorded session."""

    description = "What a tool returned when the session was recorded."
    input_schema: Mapping[str, Any] = {"type": "object"}

    def __init__(
        self, name: str, playback: Playback, outcomes: Outcomes, host: Any, real: Any = None
    ) -> None:
        self.name = name
        self._real = real
        self._playback = playback
        self._outcomes = outcomes
        self._host = host

    async def execute(self, input: dict[str, Any]) -> ToolResult:
        """Return or raise what the recorded call did."""
        call = current_call.get()
        found = self._outcomes.pop(call)
        if call is None or found is None:
            return ToolResult.failed("The recording has no result of this call.")
        if self._real is not None:
            await self._real.execute(input)
        if self.name == _DELEGATE:
            await self._delegate(input)
        for one in self._outcomes.pop_output(call.session, found):
            if self._playback.is_left(one):
                await emit_recorded(self._host, one)
        ends = found.outcome not in ("", "cancelled")
        await self._playback.wait(found.begin, found.end if ends else None)
        if found.end is not None:  # calls side by side end in the order of then
            await self._playback.let_happen(call.session, found.end)
        if found.error is not None:
            raise _make_tool_error(found.error)
        return ToolResult.model_validate(found.result) if _is_result(found.result) else ToolResult()

    async def _delegate(self, given: Mapping[str, Any]) -> None:
        """Let the sub-agent do its part again; what it reported is in the recorded result."""
        spawn = self._host.get_capability("session.spawn")
        with suppress(AmplifierError):
            await spawn(given.get("agent_name"), given.get("task"), given.get("context"))


async def emit_recorded(host: Any, event: RecordedEvent) -> None:
    """Tell hooks once more of an event, or call a tool that another one had called."""
    if event.event == "tool:pre":
        await call_tool(host, read_call(event.data))
    else:
        await host.execute_with_hooks(event.event, event.data)


def read_call(data: Mapping[str, Any]) -> ToolCall:
    """The call that an event tells of."""
    given = data.get("tool_input")
    return ToolCall(
        id=str(data.get("tool_call_id")),
        name=str(data.get("tool_name")),
        arguments=given if isinstance(given, dict) else {},
    )


def list_told(recording: Recording, session: str) -> list[RecordedEvent]:
    """The events that no loop and no kernel tells of: those of tools, and their own calls."""
    of_model = {
        call.get("id")
        for one in recording.list_events(session, "provider:response")
        for call in (one.left.get("response") or {}).get("tool_calls") or ()
    }
    return [
        one
        for one in recording.list_events(session)
        if one.event in _TOLD_BY_TOOLS
        or one.event not in ALL_EVENTS
        or (one.event == "tool:pre" and one.data.get("tool_call_id") not in of_model)
    ]


def list_tools(recording: Recording, session: str) -> list[str]:
    """The names of the tools that a session had."""
    names: dict[Any, None] = {}
    for one in recording.list_events(session):
        if one.event == "provider:request":
            names |= dict.fromkeys(one.data.get("tools") or ())
        elif one.event == "decision:tool_resolution":
            names |= dict.fromkeys(one.data.get("available_tools") or ())
        elif one.event == "tool:pre":
            names |= dict.fromkeys([one.data.get("tool_name"), one.left.get("tool_name")])
    found = [name for name in names if isinstance(name, str)]
    parent = recording.parents.get(session)
    return found if found or parent is None else list_tools(recording, parent)


async def mount_recorded(
    host: Any, names: list[str], playback: Playback, outcomes: Outcomes
) -> None:
    """Mount substitutes of these names. The list of steps is kept: hooks read it in the session."""
    real = None
    if TODO in names:
        await todo.mount(host)
        real = host.get("tools")[TODO]
        await host.unmount("tools", TODO)
    for name in names:
        kept = real if name == TODO else None
        tool = RecordedTool(name, playback, outcomes, host, kept)
        await host.mount("tools", tool, name=name)


def _is_result(value: Any) -> bool:
    return isinstance(value, dict) and "success" in value


def _make_tool_error(recorded: Mapping[str, Any]) -> Exception:
    name = str(recorded.get("type") or "Exception")
    message = str(recorded.get("message") or "")
    return make_exception(name, message.removeprefix(f"{name}: "))
