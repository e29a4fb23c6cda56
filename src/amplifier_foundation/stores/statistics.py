"""What hooks answered, hour by hour, and how people answered hooks."""

from __future__ import annotations

import math
from collections.abc import Iterable

from amplifier_foundation.stores.checks.fields import clean_text
from amplifier_foundation.stores.engine import Engine, Row, Transaction
from amplifier_foundation.stores.errors import BadRequest
from amplifier_foundation.stores.values.hook_figures import SUMS, HookFigures, add_up
from amplifier_foundation.stores.values.session import Overruling

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
_ADD_TOTAL = _write_upsert("hook_totals", ("hook", "event", "action"), first_seen="unix_now()")
_READ = """
SELECT * FROM hook_figures WHERE hour >= :since AND (:hook = '' OR hook = :hook)
ORDER BY hour, hook, event, action LIMIT :most
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
_OVERRULINGS = """
SELECT hook, count(*) AS asked,
    sum(CASE WHEN allowed = 1 THEN 1 ELSE 0 END) AS allowed,
    sum(CASE WHEN allowed = 0 THEN 1 ELSE 0 END) AS denied,
    sum(CASE WHEN status = 'expired' THEN 1 ELSE 0 END) AS expired
FROM approvals WHERE created >= :since GROUP BY hook ORDER BY hook
"""


class Statistics:
    """Figures about hooks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def read(self, since: float, hook: str = "") -> list[HookFigures]:
        """The figures of all hours that begin at that time or later; of one hook, if named."""
        begin = _read_since(since)
        rows = await self._engine.read(
            lambda transaction: transaction.run(_READ, since=begin, hook=hook, most=MOST)
        )
        return [_read(row) for row in rows]

    async def sum_up(self, most: int = MOST_SERIES) -> tuple[list[HookFigures], HookFigures]:
        """The figures of all time, and what the hooks, events and actions beyond `most` add.

        Those that came first are told apart, so that no sum ever becomes less.
        """
        rows, (everything,) = await self._engine.read(
            lambda transaction: (transaction.run(_TOTALS, most=most), transaction.run(_ALL))
        )
        found, rest = [_read(row) for row in rows], _read(everything)
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
        rows = await self._engine.read(
            lambda transaction: transaction.run(_OVERRULINGS, since=begin)
        )
        return [
            Overruling(
                hook=row["hook"],
                asked=int(row["asked"]),
                allowed=int(row["allowed"]),
                denied=int(row["denied"]),
                expired=int(row["expired"]),
            )
            for row in rows
        ]


def add_figures(transaction: Transaction, every: Iterable[HookFigures]) -> None:
    """Count what records told of hooks."""
    for one in add_up(every):
        values = {name: getattr(one, name) for name in _COLUMNS}
        names = ("hook", "event", "action")
        values |= {name: clean_text(getattr(one, name), NAME) for name in names}
        transaction.run(_ADD, hour=one.hour, **values)
        transaction.run(_ADD_TOTAL, **values)


def _read(row: Row) -> HookFigures:
    figures = {name: row[column] for name, column in _COLUMNS.items()}
    for name in figures:
        figures[name] = (float if name in ("milliseconds", "slowest") else int)(figures[name])
    return HookFigures(
        hour=row["hour"], hook=row["hook"], event=row["event"], action=row["action"], **figures
    )


def _read_since(since: float) -> float:
    if not isinstance(since, int | float) or not math.isfinite(since):
        raise BadRequest(f"Since when? Give seconds since 1970, not {since!r}")
    return float(since)
