"""The figures of a hook: what one record of a trail adds to them, and their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import datetime

from amplifier_audit.format.record import Record
from amplifier_core.models.hook_counts import HookCounts
from amplifier_hooks.approvals.stores.values.session import SessionRecord
from amplifier_hooks.trails.reading import UNNAMED, read_item
from amplifier_hooks.trails.recount import count_item

HOUR = 3600.0
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
    item = read_item(_to_trail_record(record))
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
    """As a trail has it; the data of an event are not looked at."""
    body = record.body
    if record.type == "dispatch":
        body = {"hooks": body.get("hooks")}
    return {
        "seq": record.number,
        "time": "",
        "type": record.type,
        "session": "",
        "turn": record.turn,
        "event": record.event,
        "hook": record.hook,
        "registration": None,
        "body": body,
    }


class _Counts(HookCounts):
    """The figures of one answer of one hook, with times as they were."""

    def __init__(self) -> None:
        self.spent: list[float] = []

    def count_time(self, seconds: float) -> None:
        """Keep a time, in milliseconds."""
        self.spent.append(seconds * 1000)


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
