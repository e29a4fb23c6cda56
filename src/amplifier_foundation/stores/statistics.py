"""What hooks answered, hour by hour, and how people answered hooks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

from amplifier_foundation.stores.checks.fields import clean_text
from amplifier_foundation.stores.engine import Engine, Transaction
from amplifier_foundation.stores.errors import BadRequest
from amplifier_foundation.stores.values.session import HookFigures, Overruling, SessionRecord

HOUR = 3600.0
NAME = 400
MOST = 50_000

_ADD = """
INSERT INTO hook_figures (hour, hook, event, action, calls, milliseconds, slowest)
VALUES (:hour, :hook, :event, :action, 1, :milliseconds, :milliseconds)
ON CONFLICT (hour, hook, event, action) DO UPDATE SET
    calls = hook_figures.calls + 1,
    milliseconds = hook_figures.milliseconds + excluded.milliseconds,
    slowest = CASE WHEN excluded.slowest > hook_figures.slowest
        THEN excluded.slowest ELSE hook_figures.slowest END
"""
_READ = """
SELECT * FROM hook_figures WHERE hour >= :since AND (:hook = '' OR hook = :hook)
ORDER BY hour, hook, event, action LIMIT :most
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
        return [
            HookFigures(
                hour=row["hour"],
                hook=row["hook"],
                event=row["event"],
                action=row["action"],
                count=row["calls"],
                milliseconds=row["milliseconds"],
                slowest=row["slowest"],
            )
            for row in rows
        ]

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


def list_answers(record: SessionRecord) -> Iterator[HookFigures]:
    """The answers of hooks that a record of the trail tells of, each counted once."""
    if record.type == "dispatch":
        hooks = record.body.get("hooks")
        found: list[Any] = hooks if isinstance(hooks, list) else []
    elif record.type == "action_resolved":
        found = [record.body]
    else:
        return
    hour = math.floor(record.time / HOUR) * HOUR
    for answer in found:
        if isinstance(answer, dict) and isinstance(answer.get("hook"), str):
            spent = _read_milliseconds(answer.get("ms"))
            action = str(answer.get("action") or "continue")
            yield HookFigures(hour, answer["hook"], record.event, action, 1, spent, spent)


def add_answers(transaction: Transaction, answers: Iterable[HookFigures]) -> None:
    """Count answers of hooks."""
    for answer in answers:
        transaction.run(
            _ADD,
            hour=answer.hour,
            hook=clean_text(answer.hook, NAME),
            event=clean_text(answer.event, NAME),
            action=clean_text(answer.action, NAME),
            milliseconds=answer.milliseconds,
        )


def _read_milliseconds(value: Any) -> float:
    usable = isinstance(value, int | float) and math.isfinite(value) and value >= 0
    return float(value) if usable else 0.0


def _read_since(since: float) -> float:
    if not isinstance(since, int | float) or not math.isfinite(since):
        raise BadRequest(f"Since when? Give seconds since 1970, not {since!r}")
    return float(since)
