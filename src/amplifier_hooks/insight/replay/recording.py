"""A recorded session as it is replayed: its items by session, and the processes that it had."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

from amplifier_core.errors import AmplifierError
from amplifier_core.records import Body, SessionEnded, SessionStarted, SessionSuspended
from amplifier_hooks.trails import (
    Header,
    Item,
    Note,
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

    def take(self, item: Item) -> None:
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
        return [_make_run(part) for part in _split(self.sessions.get(self.root, []))]


def read_recording(path: Path) -> Recording:
    """Read the whole trail; CannotReplay if it holds too little."""
    recording = Recording(read_header(path))
    for item in read_history(path):
        recording.take(item)
    recording.check()
    return recording


def _split(items: list[PlacedItem]) -> list[list[PlacedItem]]:
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
