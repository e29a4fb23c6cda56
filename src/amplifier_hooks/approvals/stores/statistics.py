"""Statistics: answers of hooks hour by hour, and answers of people to hooks."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime

from amplifier_audit.record import Record
from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import UNNAMED
from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import (
    Overruling,
    SessionRecord,
)
from amplifier_hooks.approvals.stores.checks import clean_text, read_seconds
from amplifier_hooks.approvals.stores.engine import Engine, Row, Transaction
from amplifier_hooks.trails.bodies import SELF_TEST_HOOK, SELF_TEST_PREFIX
from amplifier_hooks.trails.reading import read_item
from amplifier_hooks.trails.recount import count_item

HOUR = 3600.0
DAY = 24 * HOUR
BOUNDS = (1, 5, 25, 100, 500, 2500)
"""Milliseconds: how many calls took no longer is counted for each."""


@dataclass(slots=True)
class HookFigures:
    """What one hook answered in one hour, how long it took, and what came of its questions.

    Questions and injected tokens stand with the action that they come from, and an answer behind a
    denial is a `continue`. Figures from before they were counted are 0; so `timed` may be less
    than `count`.
    """

    hour: float
    hook: str
    event: str
    action: str
    count: int = 0
    milliseconds: float = 0.0
    slowest: float = 0.0
    failures: int = 0
    timeouts: int = 0
    asked: int = 0
    allowed: int = 0
    refused: int = 0
    expired: int = 0
    overruled: int = 0
    injected_tokens: int = 0
    handed_over: int = 0
    """Questions that another program asked its own person: these are allowed (what was asked about
    ran), `not_run` or `not_known`; what becomes known is counted in the hour of the question."""
    not_run: int = 0
    not_known: int = 0
    contradicted: int = 0
    """Calls that it denied and that ran all the same."""
    timed: int = 0
    """How many calls are in the following figures: those that took no longer."""
    within_1: int = 0
    within_5: int = 0
    within_25: int = 0
    within_100: int = 0
    within_500: int = 0
    within_2500: int = 0

    @property
    def key(self) -> tuple[float, str, str, str]:
        """What is counted apart."""
        return self.hour, self.hook, self.event, self.action

    def add(self, other: HookFigures) -> None:
        """Take others of the same key in."""
        for name in SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)


SUMS = tuple(one.name for one in fields(HookFigures)[4:] if one.name != "slowest")
"""The figures that are added up."""

_COUNTED = tuple(name for name in SUMS if hasattr(HookCounts, name))
"""Those that are counted by the same name."""


def add_up(every: Iterable[HookFigures]) -> list[HookFigures]:
    """One for each key."""
    found: dict[tuple[float, str, str, str], HookFigures] = {}
    for one in every:
        if one.key in found:
            found[one.key].add(one)
        else:
            found[one.key] = one
    return list(found.values())


def list_figures(record: SessionRecord) -> list[HookFigures]:
    """What a record of a trail tells of hooks, counted as everywhere."""
    item = read_item(_to_trail_record(record), with_events=False)
    found: dict[tuple[str, str], _Counts] = {}

    def find(hook: str, action: str) -> HookCounts:
        return found.setdefault((hook, action), _Counts())

    count_item(item, find)
    hour = _read_hour(getattr(item, "handed_at", ""))
    if hour is None:
        hour = math.floor(record.time / HOUR) * HOUR
    every = (
        _write_figures(hour, hook, record.event, action, counts)
        for (hook, action), counts in found.items()
        if hook not in ("", UNNAMED)
    )
    return [one for one in every if any(getattr(one, name) for name in SUMS)]


def _to_trail_record(record: SessionRecord) -> Record:
    """As a trail has it."""
    return {
        "seq": record.number,
        "time": "",
        "type": record.type,
        "session": "",
        "turn": record.turn,
        "event": record.event,
        "hook": record.hook,
        "registration": None,
        "body": record.body,
    }


class _Counts(HookCounts):
    """The figures of one answer of one hook, with times as they were."""

    def __init__(self) -> None:
        self.spent: list[float] = []

    def count_time(self, seconds: float, calls: int = 1) -> None:
        """Keep a time, in milliseconds."""
        self.spent += [seconds * 1000] * calls


def _write_figures(hour: float, hook: str, event: str, action: str, counts: _Counts) -> HookFigures:
    figures = HookFigures(hour, hook, event, action, counts.calls)
    for name in _COUNTED:
        setattr(figures, name, getattr(counts, name))
    figures.milliseconds = sum(counts.spent)
    figures.slowest = max(counts.spent, default=0.0)
    figures.timed = len(counts.spent)
    for bound in BOUNDS:
        setattr(figures, f"within_{bound}", sum(one <= bound for one in counts.spent))
    return figures


def _read_hour(time: str) -> float | None:
    """The hour of a question that was handed over."""
    try:
        return math.floor(datetime.fromisoformat(time).timestamp() / HOUR) * HOUR
    except (ValueError, OverflowError, OSError):
        return None


NAME = 400
MOST = 50_000
MOST_SERIES = 500
"""Hooks, events and actions that are told apart over all time; names may be made up."""

_FIGURES = ("milliseconds", "slowest", *(name for name in SUMS if name != "milliseconds"))
_COLUMNS = {name: "calls" if name == "count" else name for name in _FIGURES}


_SUMMED = tuple(column for column in _COLUMNS.values() if column != "slowest")


def _write_upsert(table: str, keys: tuple[str, ...], **new: str) -> str:
    """Add to a row, or begin it; `new` are the columns that only a new one is given."""
    columns = ", ".join((*keys, *_COLUMNS.values(), *new))
    values = ", ".join((*(f":{name}" for name in (*keys, *_COLUMNS)), *new.values()))
    sums = ", ".join(f"{one} = {table}.{one} + excluded.{one}" for one in _SUMMED)
    return (
        f"INSERT INTO {table} ({columns}) VALUES ({values}) "
        f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {sums}, slowest = CASE WHEN "
        f"excluded.slowest > {table}.slowest THEN excluded.slowest ELSE {table}.slowest END"
    )


_ADD = _write_upsert("hook_figures", ("hour", "hook", "event", "action"))
_ADD_DAY = _write_upsert("hook_days", ("hour", "hook", "event", "action"))
_ADD_TOTAL = _write_upsert("hook_totals", ("hook", "event", "action"), first_seen="unix_now()")
# The newest first: if there are more than can be given, the oldest are left out.
# Sums of whole numbers are whole numbers here: PostgreSQL would make decimals of them.
_SUMS = ", ".join(
    f"SUM({column}) AS {name}"
    if name == "milliseconds"
    else f"CAST(SUM({column}) AS BIGINT) AS {name}"
    for name, column in _COLUMNS.items()
    if name != "slowest"
)
_READ = f"""
SELECT CAST(CAST(hour AS BIGINT) - CAST(hour AS BIGINT) % CAST(:size AS BIGINT)
        AS DOUBLE PRECISION) AS hour,
    hook, event, action, MAX(slowest) AS slowest, {_SUMS}
FROM {{table}} WHERE hour >= :since AND (:hook = '' OR hook = :hook)
GROUP BY 1, hook, event, action ORDER BY 1 DESC, hook DESC, event DESC, action DESC LIMIT :most
"""
_REMOVE = """
DELETE FROM {table}
WHERE hour = (SELECT MIN(hour) FROM {table}) AND hour <= unix_now() - :age - :length
RETURNING hook
"""
_TOTALS = """
SELECT 0.0 AS hour, hook_totals.* FROM hook_totals ORDER BY first_seen, hook, event, action
LIMIT :most
"""
_ALL = f"""
SELECT 0.0 AS hour, '' AS hook, '' AS event, '' AS action, COALESCE(MAX(slowest), 0) AS slowest,
    {", ".join(f"COALESCE(SUM({one}), 0) AS {one}" for one in _SUMMED)}
FROM hook_totals
"""
_STATES = """
SELECT status, count(*) AS number FROM {table} GROUP BY status ORDER BY status
"""
# Goes from one hook to the next in the index, however many approvals each has.
_HOOKS = """
WITH RECURSIVE hooks (hook) AS (
    SELECT min(hook) FROM approvals
    UNION ALL
    SELECT (SELECT min(hook) FROM approvals WHERE hook > hooks.hook)
    FROM hooks WHERE hooks.hook IS NOT NULL
)
SELECT hook FROM hooks WHERE hook IS NOT NULL
"""
# Of one hook, so that only those of that time are counted, and all that is needed is in the index.
_OVERRULINGS = """
SELECT count(*) AS asked,
    count(CASE WHEN allowed = 1 THEN 1 END) AS allowed,
    count(CASE WHEN allowed = 0 THEN 1 END) AS denied,
    count(CASE WHEN status = 'expired' THEN 1 END) AS expired
FROM approvals WHERE hook = :hook AND created >= :since AND session_id NOT LIKE :tests
"""


@dataclass(frozen=True, slots=True)
class FigureBuckets:
    """Figures, the oldest first; all there are since `complete_since`."""

    figures: list[HookFigures]
    complete_since: float


class Statistics:
    """Figures about hooks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def read(self, since: float, hook: str = "") -> list[HookFigures]:
        """The figures of all hours that begin at that time or later; of one hook, if named."""
        return (await self.read_buckets(since, hook)).figures

    async def read_buckets(self, since: float, hook: str = "", hours: int = 1) -> FigureBuckets:
        """The same, added up for so many hours each; `hour` is when they begin.

        Of whole days, the first is the one that `since` is in.
        """
        begin = _read_since(since)
        size = int(hours * HOUR)
        table = "hook_figures"
        if size % DAY == 0:  # added up already
            table, begin = "hook_days", begin - begin % DAY
        rows = await self._engine.read(
            lambda transaction: transaction.run(
                _READ.format(table=table), since=begin, hook=hook, size=size, most=MOST + 1
            ),
            one_state=False,
        )
        if len(rows) <= MOST:
            return FigureBuckets([HookFigures(**row) for row in reversed(rows)], begin)
        # Of the oldest bucket some is missing, so it is not given as if it were whole.
        oldest = rows[-1]["hour"]
        kept = [row for row in rows if row["hour"] > oldest]
        return FigureBuckets([HookFigures(**row) for row in reversed(kept)], oldest + size)

    async def remove_older(self, seconds: float) -> int:
        """Remove the figures of hours longer ago; sums of all time stay. Returns how many."""
        age = read_seconds("age", seconds, 100 * 366 * 24 * 3600.0)
        await self._remove("hook_days", age, DAY)
        return await self._remove("hook_figures", age, HOUR)

    async def _remove(self, table: str, age: float, length: float) -> int:
        statement = _REMOVE.format(table=table)
        removed = 0
        while portion := await self._engine.write(
            lambda transaction: len(transaction.run(statement, age=age, length=length))
        ):
            removed += portion
        return removed

    async def sum_up(self, most: int = MOST_SERIES) -> tuple[list[HookFigures], HookFigures]:
        """The figures of all time, and what the hooks, events and actions beyond `most` add.

        Those that came first are told apart, so that no sum ever becomes less.
        """
        rows, (everything,) = await self._engine.read(
            lambda transaction: (transaction.run(_TOTALS, most=most), transaction.run(_ALL))
        )
        found = [_read(row) for row in rows]
        rest = _read(everything)
        for one in found:
            for name in SUMS:
                setattr(rest, name, getattr(rest, name) - getattr(one, name))
        return found, rest

    async def count_states(self) -> dict[str, dict[str, int]]:
        """How many approvals and sessions there are in each state."""
        tables = ("approvals", "sessions")
        found = await self._engine.read(
            lambda transaction: [transaction.run(_STATES.format(table=table)) for table in tables]
        )
        return {
            table: {row["status"]: int(row["number"]) for row in rows}
            for table, rows in zip(tables, found, strict=True)
        }

    async def overrulings(self, since: float) -> list[Overruling]:
        """How people answered what each hook has asked since then."""
        begin = _read_since(since)
        return await self._engine.read(lambda transaction: count_answers(transaction, begin))


def count_answers(transaction: Transaction, since: float) -> list[Overruling]:
    """How people answered each hook; nobody is meant to answer what a check of ours asks itself."""
    found = []
    for (hook,) in (row.values() for row in transaction.run(_HOOKS)):
        tests = f"%-{SELF_TEST_PREFIX}%" if hook == SELF_TEST_HOOK else ""
        (counts,) = transaction.run(_OVERRULINGS, hook=hook, since=since, tests=tests)
        if counts["asked"]:
            found.append(Overruling(hook, **counts))
    return found


def add_figures(transaction: Transaction, every: Iterable[HookFigures]) -> None:
    """Count what records told of hooks."""
    for one in add_up(every):
        values = {name: getattr(one, name) for name in _COLUMNS}
        names = ("hook", "event", "action")
        values |= {name: clean_text(getattr(one, name), NAME) for name in names}
        transaction.run(_ADD, hour=one.hour, **values)
        transaction.run(_ADD_DAY, hour=one.hour - one.hour % DAY, **values)
        transaction.run(_ADD_TOTAL, **values)


def _read(row: Row) -> HookFigures:
    figures = {name: row[column] for name, column in _COLUMNS.items()}
    for name in figures:
        figures[name] = (float if name in ("milliseconds", "slowest") else int)(figures[name])
    return HookFigures(
        hour=float(row["hour"]),
        hook=row["hook"],
        event=row["event"],
        action=row["action"],
        **figures,
    )


def _read_since(since: float) -> float:
    if not isinstance(since, int | float) or not math.isfinite(since):
        raise BadRequest(f"Since when? Give seconds since 1970, not {since!r}")
    return float(since)
