"""Backtests one recorded session: puts its events before a policy, and keeps what differs."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.events import payload_type
from amplifier_core.loader import ModuleLoader
from amplifier_hooks.insight.backtest.comparison import Difference, compare
from amplifier_hooks.insight.backtest.example import (
    describe_difference,
    describe_person,
    name_state,
)
from amplifier_hooks.insight.backtest.gap import Looks, fill_gaps, make_gaps
from amplifier_hooks.insight.backtest.policy import Policy
from amplifier_hooks.insight.backtest.questions import MOST_OPEN, Questions
from amplifier_hooks.insight.backtest.reading import TrailReader, Window
from amplifier_hooks.insight.backtest.rehearsal import Rehearsal
from amplifier_hooks.insight.backtest.tally import Tally, Unclear
from amplifier_hooks.insight.backtest.verdict import Verdict, read_recorded
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedEvent,
    RecordedHook,
    read_header,
)

MASKED = "texts in it were masked before they were recorded"
FAILED = "it failed, and the trail does not have all values of the event"
_DECIDED = ("decided", "expired", "remembered")

Tell = Callable[[int, Tally], None]
"""Told of bytes that were read and what was found so far."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to compare: a policy with what happened, or with another policy."""

    policy: Policy
    loader: ModuleLoader
    baseline: Policy | None = None
    baseline_loader: ModuleLoader | None = None
    window: Window = field(default_factory=Window)
    examples: int = 3


class TrailRun:
    """One recorded session, with the sub-agents that it started."""

    def __init__(self, path: Path, wanted: Wanted) -> None:
        self._path = path
        self._wanted = wanted
        self._tally = Tally(most_examples=wanted.examples, sessions=1)
        self._questions = Questions(recorded=wanted.baseline is None)
        self._looks = Looks()
        # By session, event and call: differences that a person may have decided about.
        self._open: OrderedDict[tuple[str, ...], tuple[str, dict[str, Any]]] = OrderedDict()
        header = read_header(path)
        self._keeps_events = header.level != "decisions"
        self._now = Rehearsal(wanted.policy, header, wanted.loader, self._looks)
        self._then: Rehearsal | None = None
        if wanted.baseline is not None and wanted.baseline_loader is not None:
            loader = wanted.baseline_loader
            self._then = Rehearsal(wanted.baseline, header, loader, self._looks)

    @property
    def _rehearsals(self) -> tuple[Rehearsal, ...]:
        return (self._now,) if self._then is None else (self._now, self._then)

    async def run(self, tell: Tell = lambda read, tally: None) -> Tally:
        """Go through the trail; `tell` is called now and then."""
        if not self._keeps_events:
            why = "it keeps decisions only (audit.level: decisions), not the events"
            self._tally.unreadable.append({"trail": str(self._path), "why": why})
            return self._tally
        reader = TrailReader(self._path, self._listens, self._wanted.window)
        try:
            for number, item in enumerate(reader.read_items()):
                await self._take(item)
                if not number & 255:
                    tell(reader.read, self._tally)
        finally:
            await self._finish(reader)
        return self._tally

    def _listens(self, name: str) -> bool:
        return any(one.listens(name) for one in self._rehearsals)

    async def _finish(self, reader: TrailReader) -> None:
        for one in self._rehearsals:
            counts = await one.close()
            if one is self._now:
                for name, figures in counts.items():
                    self._tally.add_counts(name, figures)
        self._tally.events += reader.skipped
        self._tally.questions = self._questions.days
        self._tally.stood_in = dict.fromkeys(self._now.stand_ins.found, 1)

    async def _take(self, item: Item) -> None:
        if isinstance(item, RecordedEvent):
            if not item.again:
                await self._judge(item)
        elif isinstance(item, RecordedApproval):
            self._take_approval(item)
        elif isinstance(item, RecordedHook):
            for one in self._rehearsals:
                await one.take_hook(item)
        elif isinstance(item, Note):
            for one in self._rehearsals:
                await one.take_note(item)

    # Events

    async def _judge(self, event: RecordedEvent) -> None:
        counts = self._wanted.window.holds(event.time)
        if counts:
            self._tally.stretch(event.time)
        heard = [await one.hears(event) for one in self._rehearsals]
        if not any(heard) and not event.answers:
            return
        if "" in event.missing and payload_type(event.event) is None:
            if counts:  # nobody knows which fields it had
                self._keep_unclear(event, Difference("cannot_tell", "", doubt=event.missing[""]))
            return
        would, was = await self._get_verdicts(event)
        if counts:
            self._tally.heard += 1
            self._settle(event, was, would)

    async def _get_verdicts(self, event: RecordedEvent) -> tuple[Verdict, Verdict]:
        data, left = _fill(event, self._looks)
        would = await self._now.judge(event, data, left)
        if self._then is None:
            return would, read_recorded(event, left)
        return would, await self._then.judge(event, data, left)

    def _settle(self, event: RecordedEvent, was: Verdict, would: Verdict) -> None:
        self._questions.take_verdicts(event, was, would)
        difference = compare(was, would, self._now.scrub)
        if difference is None:
            return
        if difference.kind != "cannot_tell" and (doubt := _find_doubt(event, difference)):
            difference = Difference("cannot_tell", difference.hook, doubt=doubt)
        if difference.kind == "cannot_tell":
            self._keep_unclear(event, difference)
            return
        self._tally.count(difference.kind, difference.hook)
        example = describe_difference(self._path, event, was, would, difference)
        if difference.kind == "no_longer_denied" and self._then is None:
            example["not_asked_then"] = self._now.stand_ins.list_unasked(event)
        self._tally.keep_example(difference.kind, example)
        self._open[_find_place(event)] = difference.kind, example
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)

    def _keep_unclear(self, event: RecordedEvent, difference: Difference) -> None:
        self._tally.count(difference.kind, difference.hook)
        place = {"trail": str(self._path), "sequence": event.sequence, "event": event.event}
        if difference.looks:
            for look in difference.looks:
                self._tally.add_unclear(Unclear(look.hook, look.field, look.why, 1, [place]))
            return
        named = {MASKED: event.masked, FAILED: tuple(event.missing)}.get(difference.doubt, ())
        fields = ", ".join(named)
        self._tally.add_unclear(Unclear(difference.hook, fields, difference.doubt, 1, [place]))

    # People

    def _take_approval(self, step: RecordedApproval) -> None:
        self._questions.take_approval(step)
        asked = (step.session, step.hook, step.digest)
        if step.stage == "requested":
            place = (step.session, step.event, step.call_id)
            if place in self._open:
                self._open[asked] = self._open[place]
        elif step.stage == "outcome" or step.settles:
            self._describe_person(step, self._open.get((*asked, step.call_id)))
        elif step.stage == "handed_over" and not step.again:
            found = self._open.pop(asked, None)
            if found is not None:
                self._open[*asked, step.call_id] = found
                self._describe_person(step, found)
        elif step.stage in _DECIDED:
            self._describe_person(step, self._open.pop(asked, None))

    def _describe_person(
        self, step: RecordedApproval, found: tuple[str, dict[str, Any]] | None
    ) -> None:
        if found is not None:
            kind, example = found
            example["person"] = describe_person(step)
            self._tally.count_person(kind, name_state(step), step.settles)


def _fill(event: RecordedEvent, looks: Looks) -> tuple[dict[str, Any], dict[str, Any]]:
    """The data of an event as it was given and left, with gaps where the trail has no value."""
    if not event.missing:
        return event.data, event.left
    if why := event.missing.get(""):
        gaps = make_gaps(event.event, why, looks)
        return gaps, gaps
    return fill_gaps(event.data, event.left, event.missing, looks)


def _find_doubt(event: RecordedEvent, difference: Difference) -> str:
    # A pattern that meets a gap fails without looking at it.
    if event.missing and difference.kind == "error":
        return FAILED
    return MASKED if event.masked else ""


def _find_place(event: RecordedEvent) -> tuple[str, str, str]:
    return event.session, event.event, str(event.data.get("tool_call_id") or "")
