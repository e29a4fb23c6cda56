"""get_statistics: what each hook did, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from amplifier_audit.record import Record
from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.mcp.server.tool import Result
from amplifier_hooks.mcp.server.trails import (
    Deadline,
    DeadlineExceeded,
    FilterArguments,
    OpenTrail,
    Trails,
    list_segments,
    read_in_time,
)
from amplifier_hooks.trails.filters import Filter
from amplifier_hooks.trails.reading import read_matching
from amplifier_hooks.trails.recount import Recount

SECONDS = 15.0
MOST_HOOKS = 200


class StatisticsArguments(FilterArguments):
    """Which records to count."""

    session: str | None = Field(
        None, max_length=128, description="Only the trail of this session; its id or a beginning."
    )


class CountedHook(BaseModel):
    """What one hook did."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hook: str
    calls: int
    denials: int
    asks: int
    injections: int
    errors: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


class StatisticsResult(Result):
    """What the hooks of the scope did."""

    sessions: int = Field(description="How many trails were read.")
    records: int = Field(description="How many records were counted.")
    complete: bool = Field(description="False if time was up before all was read.")
    hooks: list[CountedHook]


@dataclass(frozen=True, slots=True)
class TrailStatistics:
    """Counts what is in the trails of a scope."""

    trails: Trails
    seconds: float = SECONDS

    async def run(self, arguments: StatisticsArguments) -> StatisticsResult:
        """The figures of each hook."""
        return await asyncio.to_thread(self._count, arguments)

    def _count(self, arguments: StatisticsArguments) -> StatisticsResult:
        wanted = arguments.build_filter()
        trails = [self.trails.find(arguments.session)] if arguments.session else self.trails.list()
        reading = _TimedCount(trails, Deadline(self.seconds))
        figures = reading.count(wanted)
        hooks = [
            CountedHook(hook=name[:200], **one.summarize())
            for name, one in sorted(figures.items())
            if one.is_used and arguments.hook in (None, name)
        ][:MOST_HOOKS]
        rest = "" if reading.complete else "; time was up before all of it was read"
        return StatisticsResult(
            summary=f"{len(hooks)} hooks in {reading.sessions} trails{rest}.",
            sessions=reading.sessions,
            records=reading.counted,
            complete=reading.complete,
            hooks=hooks,
        )


@dataclass(slots=True)
class _TimedCount:
    """Reads trails, and knows how far it came."""

    trails: list[OpenTrail]
    deadline: Deadline
    sessions: int = 0
    counted: int = 0
    complete: bool = field(default=True)

    def count(self, wanted: Filter) -> Mapping[str, HookCounts]:
        """What each hook did in the records that match, as long as there is time."""
        found = Recount()
        try:
            for trail in self.trails:
                self.sessions += 1
                for item in read_matching(self._read(trail, wanted), wanted):
                    found.take(item)
                found.end_trail()
        except DeadlineExceeded:
            self.complete = False
        return found.hooks

    def _read(self, trail: OpenTrail, wanted: Filter) -> Iterator[Record]:
        for path in reversed(list_segments(trail)):
            for record in read_in_time(path, self.deadline):
                self.counted += wanted.matches(record)
                yield record
