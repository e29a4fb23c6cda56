"""A recorded session: what its trail has of it, and the steps that an application took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal, TypeVar

from amplifier_core.errors import AmplifierError
from amplifier_core.records import Body, SessionEnded, SessionStarted, SessionSuspended
from amplifier_hooks.trails import (
    Header,
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    read_header,
    read_history,
)
from amplifier_hooks.trails.bodies import BundleLoaded

BodyT = TypeVar("BodyT", bound=Body)

PlacedItem = Any
"""An item that says where in the trail it stands: all but registrations."""

End = Literal["ended", "suspended", "broken off"]

BACKTEST = "amplifier hooks backtest judges its events one by one"


class CannotReplay(AmplifierError):
    """A trail does not have what a replay needs; the message says what, and what works instead."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one process did of a session."""

    items: tuple[PlacedItem, ...]
    end: End
    reason: str = "complete"

    @property
    def resumed(self) -> bool:
        """Whether it went on with what an earlier process had begun."""
        starts = (find_body(one, SessionStarted) for one in self.items)
        return any(start.resumed for start in starts if start is not None)


@dataclass(slots=True)
class Recording:
    """Everything that a trail tells of a session and its sub-agents."""

    header: Header
    sessions: dict[str, list[PlacedItem]] = field(default_factory=dict)
    hooks: list[RecordedHook] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)

    @property
    def root(self) -> str:
        """The session that a person talked to."""
        return self.header.session

    def add(self, item: Item) -> None:
        """Add what comes next in the trail."""
        if isinstance(item, RecordedHook):
            self.hooks.append(item)
            return
        if item.session:
            self.sessions.setdefault(item.session, []).append(item)
            self._note_parent(item)

    def _note_parent(self, item: PlacedItem) -> None:
        """A sub-agent that did not start has no start that names its parent; its events do."""
        told = item.data.get("parent_id") if isinstance(item, RecordedEvent) else None
        if start := find_body(item, SessionStarted):
            told = start.parent
        if isinstance(told, str) and item.session != self.root:
            self.parents.setdefault(item.session, told)

    def check(self) -> None:
        """CannotReplay if the trail holds too little."""
        if self.header.level == "decisions":
            raise CannotReplay(
                "The trail has decisions only (audit.level: decisions). Without events and what "
                "tools returned, nothing can be replayed: record with audit.level: normal"
            )
        if not any(self.list_events(self.root)):
            raise CannotReplay("The trail has no events of a session; there is nothing to replay")
        for session in self.sessions:
            for one in self.list_events(session, "provider:response"):
                if "response" not in one.data:
                    raise CannotReplay(
                        f"Record {one.sequence} has no answer of the model: it was written by an "
                        f"earlier version, or for an agent that another program runs; {BACKTEST}"
                    )
        if not any(find_body(one, SessionStarted) for one in self.sessions[self.root]):
            raise CannotReplay("The recorded session did not start; there is nothing to replay")

    def list_events(self, session: str, event: str = "") -> Iterator[RecordedEvent]:
        """The events of a session as they were judged first, or those of one name."""
        for one in self.sessions.get(session, ()):
            if isinstance(one, RecordedEvent) and not one.again and event in ("", one.event):
                yield one

    def list_runs(self) -> list[Run]:
        """The processes of the session, in order."""
        return [_make_run(part) for part in _split_runs(self.sessions.get(self.root, []))]


def read_recording(path: Path) -> Recording:
    """Read the whole trail; CannotReplay if it holds too little."""
    recording = Recording(read_header(path))
    for item in read_history(path):
        recording.add(item)
    recording.check()
    return recording


def _split_runs(items: list[PlacedItem]) -> list[list[PlacedItem]]:
    """The items of each process; what is written before `session_started` belongs to it."""
    parts: list[list[PlacedItem]] = [[]]
    for one in items:
        opens = find_body(one, BundleLoaded) or find_body(one, SessionStarted)
        if opens and any(find_body(other, SessionStarted) for other in parts[-1]):
            parts.append([])
        parts[-1].append(one)
    return parts


def _make_run(items: list[PlacedItem]) -> Run:
    for one in items:
        if find_body(one, SessionSuspended):
            return Run(tuple(items), "suspended")
        if end := find_body(one, SessionEnded):
            return Run(tuple(items), "ended", end.reason or "complete")
    return Run(tuple(items), "broken off")


def find_body(item: object, kind: type[BodyT]) -> BodyT | None:
    """The body of an item, if it is a note of that kind."""
    return item.body if isinstance(item, Note) and isinstance(item.body, kind) else None


Span = tuple[int, float]
_NEVER = float("inf")


class Spans:
    """The calls of one session."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._calls: list[tuple[str, int, float]] = []
        open_calls: dict[str, int] = {}
        items = list(items)
        self._questions = collect_questions(items)
        for item in items:
            if not isinstance(item, RecordedCall):
                continue
            if item.stage == "started":
                open_calls[item.call_id] = len(self._calls)
                self._calls.append((item.call_id, item.sequence, _NEVER))
            elif item.call_id in open_calls and item.outcome != "unknown":
                place = open_calls.pop(item.call_id)
                self._calls[place] = (*self._calls[place][:2], item.sequence)

    def is_part(self, event: RecordedEvent) -> bool:
        """Whether an event happened inside of a call that came to its end."""
        return any(
            end != _NEVER and self.is_inside(event, (begin, end)) for _, begin, end in self._calls
        )

    def is_inside(self, event: RecordedEvent, span: Span) -> bool:
        """Whether an event happened, and what it began was over, from here to there."""
        begin, end = span
        return begin < event.sequence and self._find_end(event) < end

    def _find_end(self, event: RecordedEvent) -> float:
        if event.event != "tool:pre":
            return event.sequence
        call = event.data.get("tool_call_id")
        own = (one for one in self._calls if one[0] == call and one[1] > event.sequence)
        return next((end for _, _, end in own), self._find_last_answer(event, call))

    def _find_last_answer(self, event: RecordedEvent, call: object) -> float:
        """Where the questions about a call ended that never ran; at once if there were none."""
        asked = [
            one
            for one in self._questions
            if one.request.call_id == call and one.request.sequence > event.sequence
        ]
        ends = (_NEVER if one.end is None else one.end.sequence for one in asked)
        return max(ends, default=event.sequence)


Kind = Literal["prompt", "call", "compact", "cancel", "late", "start", "event"]

_BEGINS = "execution:start"
_ENDS = "execution:complete"
_PASSES = ("continue", "modify", "inject_context")
_OWN_PROMPT = "stop_hook"
_GUEST = "guest:"
_FOLLOWS_ANYWHERE = frozenset(
    {
        "approval:denied",
        "approval:granted",
        "approval:required",
        "module:load_failed",
        "module:on_session_ready_failed",
        "policy:violation",
        "session:config",
        "session:end",
        "session:fork",
        "session:resume",
        "session:start",
    }
)
"""Events that the kernel tells of, whoever runs the agent."""
FOLLOWS = _FOLLOWS_ANYWHERE | {
    "agent:complete",
    "agent:spawn",
    "cancel:completed",
    "context:post_compact",
    "context:pre_compact",
    "decision:agent_resolution",
    "error:orchestration",
    "orchestrator:complete",
    "prompt:answer",
    "prompt:complete",
    "tool:error",
    "tool:post",
    "user:notification",
}
"""Events that a session of ours tells of by itself, as a consequence of something else."""
DEADLINE = "deadline"
"""Who denies, for an agent of another program, what hooks did not judge in time."""
_OURS_AFTER = {
    "agent:complete": "decision:agent_resolution",
    "agent:spawn": "decision:agent_resolution",
    "context:post_compact": "decision:context_resolution",
    "context:pre_compact": "decision:context_resolution",
    "orchestrator:complete": _BEGINS,
    "tool:error": "tool:pre",
    "tool:post": "tool:pre",
}
"""What a session of ours tells of before these events; other programs do not."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that somebody did."""

    kind: Kind
    event: RecordedEvent

    @property
    def data(self) -> dict[str, Any]:
        """What it was done with."""
        return self.event.data


def list_steps(run: Run) -> list[Step]:
    """The steps of one process, in order."""
    events = [one for one in run.items if isinstance(one, RecordedEvent) and not one.again]
    events = events[len(list_early(run.items)) :]
    started = _find_started(run.items)
    spans = Spans(run.items)
    # What happened inside of a call, its stand-in sees to.
    outside = [one for one in events if one.event != "tool:pre" or not spans.is_part(one)]
    if _is_foreign(outside, started):
        return list(_list_told(events, started))
    return list(_list_outside_turns(outside))


def _list_told(events: list[RecordedEvent], started: set[int]) -> Iterator[Step]:
    """What another program, which ran the agent and its tools, told of, event by event."""
    for one in events:
        if one.event == "tool:pre":
            yield Step("start" if one.sequence in started else "event", one)
        elif one.event in ("tool:post", "tool:error"):
            yield Step("event", one)
        elif not _follows_anywhere(one):
            yield _make_step(one)


def _find_started(items: Iterable[Any]) -> set[int]:
    """The records of the calls that came to run; of some, only the parts were judged."""
    last: dict[Any, int] = {}
    found: set[int] = set()
    for one in items:
        if isinstance(one, RecordedCall) and one.stage == "started":
            found.add(last.pop(one.call_id, -1))
        elif isinstance(one, RecordedEvent) and one.event == "tool:pre" and not one.again:
            last[one.data.get("tool_call_id")] = one.sequence
    return found


def _follows_anywhere(event: RecordedEvent) -> bool:
    """Whether the kernel tells of an event, though another program runs the agent."""
    if event.event == "user:notification":
        about = event.data.get("metadata")  # a program has questions of its own to tell of
        asks = event.data.get("notification_type") == "approval_required"
        return asks and isinstance(about, dict) and "hook" in about
    return event.event in _FOLLOWS_ANYWHERE and not _is_late(event)


def _is_foreign(events: list[RecordedEvent], started: set[int]) -> bool:
    """Whether another program ran the agent: things happen that no loop of ours led to."""
    if any(one.event == _BEGINS for one in events):
        return False
    told = {""}
    for one in events:
        if _is_unknown_call(one):
            continue
        passes = one.event in ("prompt:submit", "tool:pre") and one.action in _PASSES
        if one.event.startswith(_GUEST) or _OURS_AFTER.get(one.event, "") not in told:
            return True
        if passes and one.sequence not in started:  # neither a loop nor a tool took it
            return True
        told.add(one.event)
    return False


def list_early(items: Iterable[Any]) -> list[RecordedEvent]:
    """The events before a session started, which its modules told of."""
    events = (one for one in items if isinstance(one, RecordedEvent) and not one.again)
    return list(takewhile(lambda one: one.event != "session:start", events))


def _list_outside_turns(events: list[RecordedEvent]) -> Iterator[Step]:
    inside = False
    for one in events:
        if one.event == "prompt:submit":
            if (one.data.get("metadata") or {}).get("source") != _OWN_PROMPT:
                yield Step("prompt", one)
        elif one.event in (_BEGINS, _ENDS):
            inside = one.event == _BEGINS
        elif not inside and not _follows(one):
            yield _make_step(one)


def _follows(event: RecordedEvent) -> bool:
    return event.event in FOLLOWS and not (_is_unknown_call(event) or _is_late(event))


def _make_step(event: RecordedEvent) -> Step:
    if event.event == "tool:pre" or _is_unknown_call(event):
        return Step("call", event)
    if event.event == "decision:context_resolution":
        return Step("compact", event)
    if event.event == "cancel:requested":
        return Step("cancel", event)
    if _is_late(event):
        return Step("late", event)
    return Step("event", event)


def _is_late(event: RecordedEvent) -> bool:
    """Whether something was denied because hooks took too long to judge it."""
    return event.event == "policy:violation" and event.data.get("hook") == DEADLINE


def _is_unknown_call(event: RecordedEvent) -> bool:
    """Whether somebody called a tool that is not there: no hook judged it before."""
    error = event.data.get("error")
    kind = error.get("type") if isinstance(error, dict) else ""
    return event.event == "tool:error" and kind == "InvalidToolCall"


@dataclass(slots=True)
class Asked:
    """A recorded question and how it ended, if it did."""

    request: RecordedApproval
    end: RecordedApproval | None = None
    edited_input: dict[str, Any] | None = None


def collect_questions(items: Iterable[Any]) -> list[Asked]:
    """The questions of a session, each with its end and what a person changed."""
    found: list[Asked] = []
    edited: list[Asked] = []
    for item in items:
        if isinstance(item, RecordedApproval):
            if item.stage == "requested":
                found.append(Asked(item))
            elif item.stage != "outcome" and (asked := _find_open(found, item)) is not None:
                asked.end = item
                edited += [asked] if item.edited else []
        elif isinstance(item, RecordedEvent):
            edited = [one for one in edited if not _read_edit(one, item)]
    return found


def _find_open(found: list[Asked], end: RecordedApproval) -> Asked | None:
    for one in found:
        same = one.request.digest == end.digest and one.request.hook == end.hook
        if one.end is None and same and end.stage != "remembered":
            return one
    return None


def _read_edit(asked: Asked, event: RecordedEvent) -> bool:
    """Find what a person made of an input: it was judged next."""
    same_call = event.data.get("tool_call_id") == asked.request.call_id
    if event.event != asked.request.event or not event.again or not same_call:
        return False
    given = event.data.get("tool_input")
    asked.edited_input = given if isinstance(given, dict) else None
    return True
