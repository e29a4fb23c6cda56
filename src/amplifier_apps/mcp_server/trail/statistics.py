"""get_statistics: what each hook did, counted."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field

from amplifier_apps.mcp_server.tool import Result
from amplifier_apps.mcp_server.trail.filters import FilterArguments
from amplifier_apps.mcp_server.trail.scanning import TimeUp, list_segments, read_in_time
from amplifier_apps.mcp_server.trail.trails import Deadline, OpenTrail, Trails
from amplifier_audit.format.record import Record
from amplifier_audit.reader.queries import HookFigures, count_answers, select

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

    async def run(self, given: StatisticsArguments) -> StatisticsResult:
        """The figures of each hook."""
        return await asyncio.to_thread(self._count, given)

    def _count(self, given: StatisticsArguments) -> StatisticsResult:
        wanted = given.build_filter()
        trails = [self.trails.find(given.session)] if given.session else self.trails.list()
        reading = _Reading(trails, Deadline(self.seconds))
        figures = count_answers(reading.watch(select(reading.read(), wanted)))
        hooks = [_describe(name, one) for name, one in figures.items()][:MOST_HOOKS]
        rest = "" if reading.complete else "; time was up before all of it was read"
        return StatisticsResult(
            summary=f"{len(hooks)} hooks in {reading.sessions} trails{rest}.",
            sessions=reading.sessions,
            records=reading.counted,
            complete=reading.complete,
            hooks=hooks,
        )


@dataclass(slots=True)
class _Reading:
    """Reads trails, and knows how far it came."""

    trails: list[OpenTrail]
    deadline: Deadline
    sessions: int = 0
    counted: int = 0
    complete: bool = field(default=True)

    def read(self) -> Iterator[Record]:
        """The records of all trails, as long as there is time."""
        try:
            for trail in self.trails:
                self.sessions += 1
                for path in list_segments(trail):
                    yield from read_in_time(path, self.deadline)
        except TimeUp:
            self.complete = False

    def watch(self, records: Iterator[Record]) -> Iterator[Record]:
        """The same records, counted."""
        for record in records:
            self.counted += 1
            yield record


def _describe(name: str, figures: HookFigures) -> CountedHook:
    return CountedHook(
        hook=name[:200],
        calls=figures.calls,
        denials=figures.denials,
        asks=figures.asks,
        injections=figures.injections,
        errors=figures.errors,
        p50_ms=figures.find_quantile(0.50),
        p99_ms=figures.find_quantile(0.99),
    )
