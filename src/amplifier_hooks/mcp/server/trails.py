"""The trails of the scope, read backwards until there is enough or time is up."""

from __future__ import annotations

import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_readable, parse_or_none, read_lines
from amplifier_audit.record import Record
from amplifier_core.records import DispatchRecorded, Other
from amplifier_core.utils.nested import iterate_texts
from amplifier_hooks.agent.session.inspection.trails import (
    Trail,
    find_trail_origin,
    list_roots,
    list_trails,
)
from amplifier_hooks.agent.session.origin import Origin, is_self_test
from amplifier_hooks.mcp.server.tool import Arguments, Refused
from amplifier_hooks.text.times import InvalidTime, parse_time
from amplifier_hooks.trails.bodies import read_body
from amplifier_hooks.trails.filters import Filter


class TooWide(ValueError):
    """A folder that holds nearly everything, without a word that this is meant."""


@dataclass(frozen=True, slots=True)
class Scope:
    """What belongs to a folder and to what lies below it; without a folder, everything."""

    folder: Path | None

    def covers(self, place: str) -> bool:
        """Whether a session that works there is shown; one that works nowhere known is not."""
        if self.folder is None:
            return True
        if not place or "\0" in place:
            return False
        return Path(os.path.realpath(place)).is_relative_to(self.folder)

    def __str__(self) -> str:
        return "all folders of this person" if self.folder is None else f"{self.folder} and below"


def choose_scope(folder: Path, *, everything: bool) -> Scope:
    """The scope of a server in a folder; TooWide if that holds the home of this person."""
    if everything:
        return Scope(None)
    real = Path(os.path.realpath(folder))
    home = Path(os.path.realpath(Path.home()))
    if home.is_relative_to(real):
        raise TooWide(
            f"{real} holds every project of yours, and an agent that asks here would see the "
            "sessions of all. Start the server in a project, name one with --folder, or say --all"
        )
    return Scope(real)


SESSION = r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
"""The id of a session, or the beginning of one: never a path."""

_SHORTEST = 4
_MOST_KNOWN = 20_000


@dataclass(frozen=True, slots=True)
class OpenTrail:
    """A trail of the scope."""

    trail: Trail
    origin: Origin | None

    @property
    def id(self) -> str:
        """The id of its session."""
        return self.trail.path.name

    @property
    def path(self) -> Path:
        """Its folder."""
        return self.trail.path


@dataclass(slots=True)
class Trails:
    """Finds the trails of a scope; blocks, so it belongs in a thread."""

    scope: Scope
    folder: Path
    bundle_file: Path | None = None
    _origins: dict[Path, Origin] = field(default_factory=dict)

    def list(self, *, self_tests: bool = False) -> list[OpenTrail]:
        """The trails of the scope, the newest first."""
        found = [
            trail
            for root in list_roots(self.bundle_file, self.folder)
            for trail in list_trails(root)
            if self_tests or not is_self_test(trail.path)
        ]
        newest = sorted(found, key=lambda one: (one.updated, one.path.name), reverse=True)
        opened = (OpenTrail(one, self._find_origin(one)) for one in newest)
        return [one for one in opened if self.scope.covers(one.origin.folder if one.origin else "")]

    def find(self, session: str) -> OpenTrail:
        """The trail of a session, by its id or the beginning of it; Refused if there is none."""
        if not re.fullmatch(SESSION, session):
            raise Refused("session: give the id of a session as list_sessions has it, not a path")
        known = self.list(self_tests=True)
        exact = [one for one in known if one.id == session]
        begun = [one for one in known if len(session) >= _SHORTEST and one.id.startswith(session)]
        found = exact or begun
        if len(found) > 1:
            raise Refused(f"Several sessions begin with {session!r}: {_name(found)}")
        if not found:
            raise Refused(f"No session {session!r} in {self.scope}; list_sessions shows them")
        return found[0]

    def _find_origin(self, trail: Trail) -> Origin | None:
        """What a trail says of itself never changes, and is read once."""
        known = self._origins.get(trail.path)
        if known is not None:
            return known
        found = find_trail_origin(trail)
        if found is not None:
            if len(self._origins) >= _MOST_KNOWN:
                self._origins.clear()
            self._origins[trail.path] = found
        return found


def _name(found: Sequence[OpenTrail]) -> str:
    return ", ".join(one.id for one in found[:5])


@dataclass(slots=True)
class Deadline:
    """How long a tool may read before it answers with what it has."""

    seconds: float
    _end: float = field(init=False)

    def __post_init__(self) -> None:
        self._end = time.monotonic() + self.seconds

    @property
    def expired(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() > self._end


Name = Annotated[str, Field(min_length=1, max_length=200)]
Time = Annotated[str, Field(max_length=40)]
_TIME = "A time in UTC or the beginning of one, such as 2026-11-15T09:00, or 24h or 7d ago."


class FilterArguments(Arguments):
    """What records must have; everything that is given must match."""

    event: Name | None = Field(None, description="Only this event, such as tool:pre.")
    hook: Name | None = Field(None, description="Only records that name this hook.")
    action: Name | None = Field(None, description="Only this action, such as deny.")
    type: Name | None = Field(
        None, description="Only this type of record, such as approval_decided."
    )
    since: Time | None = Field(None, description=f"From this time on. {_TIME}")
    until: Time | None = Field(None, description=f"Before this time. {_TIME}")

    def build_filter(self) -> Filter:
        """The same for the reader of trails; Refused for what is no time."""
        return Filter(
            event=self.event,
            hook=self.hook,
            action=self.action,
            type=self.type,
            after=_parse_time("since", self.since),
            before=_parse_time("until", self.until),
        )


def _parse_time(name: str, text: str | None) -> str | None:
    try:
        return None if text is None else parse_time(text, zone=UTC)
    except InvalidTime as error:
        raise Refused(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """The records with all that is asked for.

    A text is looked for in what the caller may see: who could search the rest could find a secret
    letter by letter.
    """

    wanted: Filter
    tool: str | None
    text: str | None
    mask: Callable[[Any], Any]

    def matches(self, record: Record) -> bool:
        """Whether a record has it."""
        if not self.wanted.matches(record):
            return False
        if self.tool is not None and name_tool(record) != self.tool:
            return False
        return self.text is None or self._holds(record, self.text.casefold())

    def _holds(self, record: Record, text: str) -> bool:
        return _find(text, record["body"]) and _find(text, self.mask(record["body"]))


def _find(text: str, value: Any) -> bool:
    return any(text in one.casefold() for one in iterate_texts(value))


def name_tool(record: Record) -> str | None:
    """The tool that a record is about, if it is about one."""
    body = read_body(record)
    if isinstance(body, DispatchRecorded):
        found = (body.data or {}).get("tool_name")
    elif isinstance(body, Other):
        found = body.members.get("tool") or body.members.get("tool_name")
    else:
        found = getattr(body, "tool", None)
    return found if isinstance(found, str) else None


END = 2**53
"""Behind every record of a trail."""

_LOOK = 256
"""So many records are read between two looks at the clock."""


class DeadlineExceeded(Exception):
    """Reading takes longer than a caller waits."""


class BackwardScan:
    """Hands out the matching records of trails, the newest first."""

    def __init__(self, wanted: RecordFilter, limit: int, deadline: Deadline) -> None:
        self._wanted = wanted
        self._limit = limit
        self._deadline = deadline
        self._read_any = False
        self.stopped_at: int | None = None
        """The record before which it stopped, because its time was up."""

    def read(self, trail: OpenTrail, before: int = END) -> Iterator[Record]:
        """Those before a record; Refused if not even one segment can be read in time."""
        for path in list_segments(trail):
            first = next(read_segment(path), None)
            if first is None or first["seq"] >= before:
                continue
            try:
                found = self._collect(path, before)
            except DeadlineExceeded:
                self._stop(before)
                return
            yield from reversed(found)
            before = first["seq"]
            self._read_any = True

    def _stop(self, before: int) -> None:
        if not self._read_any:
            raise Refused(
                f"The newest part of the trail cannot be read within {self._deadline.seconds:g} "
                "seconds; a person can search it with `amplifier audit show`"
            )
        self.stopped_at = before

    def _collect(self, path: Path, before: int) -> deque[Record]:
        found: deque[Record] = deque(maxlen=self._limit)
        for record in read_in_time(path, self._deadline):
            if record["seq"] >= before:
                break
            if self._wanted.matches(record):
                found.append(record)
        return found


def find_record(trail: OpenTrail, sequence: int, deadline: Deadline) -> Record | None:
    """The record of that number, or None."""
    for path in list_segments(trail):
        first = next(read_segment(path), None)
        if first is not None and first["seq"] <= sequence:
            records = read_in_time(path, deadline)
            return next((one for one in records if one["seq"] == sequence), None)
    return None


def list_segments(trail: OpenTrail) -> list[Path]:
    """The files of a trail, the newest first; none if it cannot be read."""
    try:
        return list(reversed(open_readable(trail.path).paths))
    except (AuditError, OSError):
        return []


def read_in_time(path: Path, deadline: Deadline) -> Iterator[Record]:
    """The records of a segment; DeadlineExceeded when the deadline has passed."""
    for number, record in enumerate(read_segment(path)):
        if number % _LOOK == 0 and deadline.expired:
            raise DeadlineExceeded
        yield record


def read_segment(path: Path) -> Iterator[Record]:
    """The records that can be read; a segment may be removed meanwhile."""
    try:
        for _, line in read_lines(path):
            if (record := parse_or_none(line)) is not None:
                yield record
    except (AuditError, OSError):
        return
