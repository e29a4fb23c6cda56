"""Reads a trail once, from its beginning to its end, and keeps what a report needs of it."""

from __future__ import annotations

from collections.abc import Iterable

from amplifier_hooks.insight.counting import Recount
from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.period import Period
from amplifier_hooks.insight.reports.figures.session import SessionFigures
from amplifier_hooks.insight.reports.gathering.actions import Actions
from amplifier_hooks.insight.reports.gathering.judgements import Judgements
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
)
from amplifier_hooks.trails.reading import holds_for_all


def gather_items(figures: SessionFigures, items: Iterable[Item], period: Period) -> None:
    """Fill in the figures of a session."""
    actions, judgements, counters = Actions(figures), Judgements(figures), Recount()
    for item in items:
        if isinstance(item, RecordedHook):
            figures.hooks.take(item.name).register(item)
            counters.take(item)
            continue
        if holds_for_all(item) or period.holds(item.counted_at):
            counters.take(item)
        if not period.holds(item.counted_at):
            actions.note_agents(item)
            continue
        if period.holds(item.time) and not _is_derived(item):
            _count(item, figures)
        _take(item, actions, judgements, figures.days.take(item.time[:10]))
    actions.finish()
    judgements.finish()
    _add_counts(figures, counters)


def _is_derived(item: Item) -> bool:
    return isinstance(item, RecordedApproval) and item.derived


def _count(
    item: RecordedEvent | RecordedApproval | RecordedCall | Note, figures: SessionFigures
) -> None:
    figures.records += 1
    figures.first = figures.first or item.time
    figures.last = item.time
    figures.days.take(item.time[:10]).sessions = 1


def _add_counts(figures: SessionFigures, counters: Recount) -> None:
    counters.end_trail()
    for name, counts in counters.hooks.items():
        figures.hooks.take(name).counts.add(counts)
    figures.unsure = bool(counters.unsure)


def _take(item: Item, actions: Actions, judgements: Judgements, day: Day) -> None:
    match item:
        case RecordedEvent():
            judgements.take_event(item, day)
            actions.take_event(item, day)
        case RecordedApproval():
            judgements.take_approval(item, day)
            actions.take_approval(item)
        case RecordedCall():
            actions.take_call(item, day)
        case Note():
            judgements.take_note(item, day)
            actions.take_note(item)
