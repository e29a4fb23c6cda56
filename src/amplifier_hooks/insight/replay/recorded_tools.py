"""The tools of a replayed session: each returns what it returned then, and does nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from amplifier_core.errors import AmplifierError
from amplifier_core.events import ALL_EVENTS
from amplifier_core.message_models import ToolCall
from amplifier_core.models import ToolResult
from amplifier_core.tool_call import call_tool
from amplifier_hooks.agent.tools import todo
from amplifier_hooks.insight.replay.playback import Playback, current_call
from amplifier_hooks.insight.replay.recorded_hooks import make_exception
from amplifier_hooks.insight.replay.recording import Recording
from amplifier_hooks.insight.replay.steps import Spans
from amplifier_hooks.trails import RecordedCall, RecordedEvent

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
                last.end, last.outcome = item.sequence, item.outcome
        elif isinstance(item, RecordedEvent) and not item.again:
            last = self._last.get((session, str(item.data.get("tool_call_id"))))
            if last is not None and item.event == "tool:post":
                last.result = item.data.get("tool_result")
            elif last is not None and item.event == "tool:error":
                last.error = item.data.get("error") or {}

    def take_told(self, session: str, outcome: CallOutcome) -> list[RecordedEvent]:
        """What tools told of while a call ran; of several calls at once, any may have."""
        if outcome.end is None:
            return []
        told, spans = self._told[session], self._spans[session]
        span = (outcome.begin, outcome.end)
        taken = [one for one in told if spans.is_inside(one, span)]
        self._told[session] = [one for one in told if one not in taken]
        return taken

    def take(self, call: RecordedCall | None) -> CallOutcome | None:
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
        found = self._outcomes.take(call)
        if call is None or found is None:
            return ToolResult.failed("The recording has no result of this call.")
        if self._real is not None:
            await self._real.execute(input)
        if self.name == _DELEGATE:
            await self._delegate(input)
        for one in self._outcomes.take_told(call.session, found):
            if self._playback.is_left(one):
                await tell(self._host, one)
        ends = found.outcome not in ("", "cancelled")
        await self._playback.wait(found.begin, found.end if ends else None)
        if found.end is not None:  # calls side by side end in the order of then
            await self._playback.let_happen(call.session, found.end)
        if found.error is not None:
            raise _make_error(found.error)
        return ToolResult.model_validate(found.result) if _is_result(found.result) else ToolResult()

    async def _delegate(self, given: Mapping[str, Any]) -> None:
        """Let the sub-agent do its part again; what it reported is in the recorded result."""
        spawn = self._host.get_capability("session.spawn")
        with suppress(AmplifierError):
            await spawn(given.get("agent_name"), given.get("task"), given.get("context"))


async def tell(host: Any, event: RecordedEvent) -> None:
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
    """Mount stand-ins of these names. The list of steps is kept: hooks read it in the session."""
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


def _make_error(recorded: Mapping[str, Any]) -> Exception:
    name, message = str(recorded.get("type") or "Exception"), str(recorded.get("message") or "")
    return make_exception(name, message.removeprefix(f"{name}: "))
