"""Backtests one recorded session: puts its events before a policy, and keeps what differs."""

from __future__ import annotations

import contextlib
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_readable, parse_or_none, read_lines
from amplifier_audit.record import Record
from amplifier_audit.value_store import reveal
from amplifier_core.approval import read_option
from amplifier_core.events import payload_type
from amplifier_core.loader import ModuleLoader
from amplifier_hooks.insight.backtest.counts import Tally, UnclearGroup
from amplifier_hooks.insight.backtest.policy import Policy
from amplifier_hooks.insight.backtest.runner import MountedPolicy
from amplifier_hooks.insight.backtest.verdicts import (
    Asking,
    Difference,
    GapAccesses,
    Verdict,
    compare,
    describe_difference,
    describe_person,
    fill_gaps,
    make_gaps,
    name_state,
    read_recorded,
)
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedEvent,
    RecordedHook,
    read_header,
    read_items,
)

# No text in a line can hold this: the quotation marks in it would be escaped.
_UNHEARD = re.compile(
    rb'"event":"([^"\\]*)","hook":null,"registration":null,"type":"dispatch",'
    rb'"body":\{"action":"continue","hooks":\[\],'
)
_HEAD = 800
"""Bytes of a line in which its members before the body stand."""
_NEEDED = re.compile(
    rb'"type":"(dispatch|hook_registered|session_[a-z]+|approval_[a-z_]+|log_opened)"'
)
_TIME = re.compile(rb'"time":"([^"\\]*)"')


@dataclass(frozen=True, slots=True)
class Window:
    """From when to when events count; what happened before still reaches the hooks."""

    since: str = ""
    until: str = ""

    def holds(self, time: str) -> bool:
        """Whether an event of this time counts."""
        return (not self.since or time >= self.since) and (not self.until or time < self.until)


@dataclass(slots=True)
class TrailReader:
    """The items of one trail; `listens` says whether anybody would hear an event of a name."""

    path: Path
    listens: Callable[[str], bool]
    window: Window
    skipped: int = 0
    """Events that nobody heard then, and nobody would."""
    read: int = 0
    """Bytes."""
    _names: dict[bytes, str] = field(default_factory=dict)

    def read_items(self) -> Iterator[Item]:
        """Everything that concerns hooks, in order, in bounded memory."""
        files = open_readable(self.path)
        values = files.directory.values if files.directory else None
        return read_items(reveal(self._read_records(files.paths), values))

    def _read_records(self, paths: tuple[Path, ...]) -> Iterator[Record]:
        for path in paths:
            for _, line in read_lines(path):
                self.read += len(line)
                if not self._is_needed(line):
                    continue
                if (record := parse_or_none(line)) is not None:
                    yield record

    def _is_needed(self, line: bytes) -> bool:
        if not _NEEDED.search(line, 0, _HEAD):
            return False
        unheard = _UNHEARD.search(line, 0, _HEAD)
        if unheard is None:
            return True
        name = self._names.setdefault(unheard[1], unheard[1].decode("ascii", "replace"))
        if self.listens(name):
            return True
        time = _TIME.search(line, 0, _HEAD)
        self.skipped += self.window.holds(time[1].decode("ascii", "replace") if time else "")
        return False


MOST_OPEN = 1_000
"""Operations that are remembered until the trail tells what a person said about them."""

ValueT = TypeVar("ValueT")
KeyT = TypeVar("KeyT")


class Questions:
    """Counts what was asked and what would be; an answer for always is asked for once.

    What was asked is what the trail says, or, if it is not `recorded`, what another policy says.
    """

    def __init__(self, *, recorded: bool = True) -> None:
        self._recorded = recorded
        self.days: dict[str, list[int]] = {}
        """By day: questions of then, and questions of now."""
        # By session, event, call and hook: what is asked now as it was then.
        self._both: OrderedDict[tuple[str, ...], None] = OrderedDict()
        # By session, hook and digest: whether it is asked now as well, the tool and the prompt.
        self._open: OrderedDict[tuple[str, ...], tuple[bool, str, str]] = OrderedDict()
        self._always: set[tuple[str, str, str]] = set()

    def add_verdicts(self, event: RecordedEvent, was: Verdict, would: Verdict) -> None:
        """An event was judged; whether a question was really put, the trail says later."""
        asked = {one.hook for one in was.asking} if self._recorded else set()
        for one in would.asking:
            key = (event.session, event.event, _read_call(event), one.hook)
            if one.hook in asked:
                _remember(self._both, key, None)
            else:
                self._count_new(event, one, 1)
        for one in () if self._recorded else was.asking:
            self._count_new(event, one, 0)

    def _count_new(self, event: RecordedEvent, asking: Asking, column: int) -> None:
        tool = str(event.data.get("tool_name") or "")
        if (asking.hook, tool, asking.prompt) not in self._always:
            self._count(event.time, column)

    def add_approval(self, step: RecordedApproval) -> None:
        """A step of a question of then."""
        key = (step.session, step.hook, step.digest)
        if step.stage == "requested":
            if step.again:  # the same question, which another program asks
                return
            both = (step.session, step.event, step.call_id, step.hook) in self._both
            self._count(step.time, 0, int(self._recorded))
            self._count(step.time, 1, both)
            _remember(self._open, key, (both, step.tool, step.prompt))
        elif step.stage == "decided" and key in self._open:
            both, tool, prompt = self._open.pop(key)
            if step.how == "rule":  # nobody was disturbed
                self._count(step.time, 0, -int(self._recorded))
                self._count(step.time, 1, -both)
            elif read_option(step.decision).remembered:
                self._always.add((step.hook, tool, prompt))

    def _count(self, time: str, column: int, number: int = 1) -> None:
        self.days.setdefault(time[:10], [0, 0])[column] += number


def _read_call(event: RecordedEvent) -> str:
    return str(event.data.get("tool_call_id") or "")


def _remember(kept: OrderedDict[KeyT, ValueT], key: KeyT, value: ValueT) -> None:
    kept[key] = value
    while len(kept) > MOST_OPEN:
        kept.popitem(last=False)


MASKED = "texts in it were masked before they were recorded"
FAILED = "it failed, and the trail does not have all values of the event"
_DECIDED = ("decided", "expired", "remembered")

Report = Callable[[int, Tally], None]
"""Told of bytes that were read and what was found so far."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What to compare: a policy with what happened, or with another policy."""

    policy: Policy
    loader: ModuleLoader
    baseline: Policy | None = None
    baseline_loader: ModuleLoader | None = None
    window: Window = field(default_factory=Window)
    examples: int = 3


class TrailRun:
    """One recorded session, with the sub-agents that it started."""

    def __init__(self, path: Path, comparison: Comparison) -> None:
        self._path = path
        self._comparison = comparison
        self._tally = Tally(most_examples=comparison.examples, sessions=1)
        self._questions = Questions(recorded=comparison.baseline is None)
        self._looks = GapAccesses()
        # By session, event and call: differences that a person may have decided about.
        self._open: OrderedDict[tuple[str, ...], tuple[str, dict[str, Any]]] = OrderedDict()
        header = read_header(path)
        self._keeps_events = header.level != "decisions"
        self._now = MountedPolicy(comparison.policy, header, comparison.loader, self._looks)
        self._then: MountedPolicy | None = None
        if comparison.baseline is not None and comparison.baseline_loader is not None:
            loader = comparison.baseline_loader
            self._then = MountedPolicy(comparison.baseline, header, loader, self._looks)

    @property
    def _policies(self) -> tuple[MountedPolicy, ...]:
        return (self._now,) if self._then is None else (self._now, self._then)

    async def run(self, report: Report = lambda read, tally: None) -> Tally:
        """Go through the trail; `report` is called now and then."""
        if not self._keeps_events:
            why = "it keeps decisions only (audit.level: decisions), not the events"
            self._tally.unreadable.append({"trail": str(self._path), "why": why})
            return self._tally
        reader = TrailReader(self._path, self._listens, self._comparison.window)
        try:
            for number, item in enumerate(reader.read_items()):
                await self._handle(item)
                if not number & 255:
                    report(reader.read, self._tally)
        finally:
            await self._finish(reader)
        return self._tally

    def _listens(self, name: str) -> bool:
        return any(one.listens(name) for one in self._policies)

    async def _finish(self, reader: TrailReader) -> None:
        for one in self._policies:
            counts = await one.close()
            if one is self._now:
                for name, figures in counts.items():
                    self._tally.add_counts(name, figures)
        self._tally.events += reader.skipped
        self._tally.questions = self._questions.days
        self._tally.stood_in = dict.fromkeys(self._now.recorded_answers.found, 1)

    async def _handle(self, item: Item) -> None:
        if isinstance(item, RecordedEvent):
            if not item.again:
                await self._judge(item)
        elif isinstance(item, RecordedApproval):
            self._add_approval(item)
        elif isinstance(item, RecordedHook):
            for one in self._policies:
                await one.add_hook(item)
        elif isinstance(item, Note):
            for one in self._policies:
                await one.add_note(item)

    # Events

    async def _judge(self, event: RecordedEvent) -> None:
        counts = self._comparison.window.holds(event.time)
        if counts:
            self._tally.add_event_time(event.time)
        heard = [await one.has_listeners(event) for one in self._policies]
        if not any(heard) and not event.answers:
            return
        if "" in event.missing and payload_type(event.event) is None:
            if counts:  # nobody knows which fields it had
                self._add_unclear(event, Difference("cannot_tell", "", doubt=event.missing[""]))
            return
        would, was = await self._get_verdicts(event)
        if counts:
            self._tally.heard += 1
            self._add_verdicts(event, was, would)

    async def _get_verdicts(self, event: RecordedEvent) -> tuple[Verdict, Verdict]:
        data, left = _fill(event, self._looks)
        would = await self._now.judge(event, data, left)
        if self._then is None:
            return would, read_recorded(event, left)
        return would, await self._then.judge(event, data, left)

    def _add_verdicts(self, event: RecordedEvent, was: Verdict, would: Verdict) -> None:
        self._questions.add_verdicts(event, was, would)
        difference = compare(was, would, self._now.scrub)
        if difference is None:
            return
        if difference.kind != "cannot_tell" and (doubt := _find_doubt(event, difference)):
            difference = Difference("cannot_tell", difference.hook, doubt=doubt)
        if difference.kind == "cannot_tell":
            self._add_unclear(event, difference)
            return
        self._tally.count(difference.kind, difference.hook)
        example = describe_difference(self._path, event, was, would, difference)
        if difference.kind == "no_longer_denied" and self._then is None:
            example["not_asked_then"] = self._now.recorded_answers.list_not_asked(event)
        self._tally.keep_example(difference.kind, example)
        self._open[_find_place(event)] = difference.kind, example
        while len(self._open) > MOST_OPEN:
            self._open.popitem(last=False)

    def _add_unclear(self, event: RecordedEvent, difference: Difference) -> None:
        self._tally.count(difference.kind, difference.hook)
        place = {"trail": str(self._path), "sequence": event.sequence, "event": event.event}
        if difference.looks:
            for look in difference.looks:
                self._tally.add_unclear(UnclearGroup(look.hook, look.field, look.why, 1, [place]))
            return
        named = {MASKED: event.masked, FAILED: tuple(event.missing)}.get(difference.doubt, ())
        fields = ", ".join(named)
        self._tally.add_unclear(UnclearGroup(difference.hook, fields, difference.doubt, 1, [place]))

    # People

    def _add_approval(self, step: RecordedApproval) -> None:
        self._questions.add_approval(step)
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


def _fill(event: RecordedEvent, looks: GapAccesses) -> tuple[dict[str, Any], dict[str, Any]]:
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


Progress = Callable[[Path, int, Tally], None]
"""Told of a trail, the bytes of it that were read, and what was found in it so far."""


async def backtest_trails(
    trails: Iterable[Path],
    policy: Policy,
    baseline: Policy | None = None,
    *,
    window: Window | None = None,
    examples: int = 3,
    report: Progress = lambda path, read, tally: None,
) -> AsyncIterator[tuple[Path, Tally]]:
    """What a policy would have decided in recorded sessions, against what happened.

    With a `baseline`, against what that other policy would have decided. The hooks of both run
    here, in this process; `job.Launch` has one that can write nothing. No tool runs.
    """
    with _hold(policy) as loader, _hold_other(baseline) as other:
        comparison = Comparison(policy, loader, baseline, other, window or Window(), examples)
        for path in trails:
            yield path, await _run(path, comparison, report)


async def _run(path: Path, comparison: Comparison, report: Progress) -> Tally:
    try:
        return await TrailRun(path, comparison).run(lambda read, tally: report(path, read, tally))
    except (AuditError, OSError) as error:
        return Tally(unreadable=[{"trail": str(path), "why": str(error)}])


@contextlib.contextmanager
def _hold(policy: Policy) -> Iterator[ModuleLoader]:
    """Load only what was read of the policy, as its sessions do."""
    material = policy.material
    material.claim_packages()
    with material.hold():
        yield ModuleLoader(base=material.folder, sources=material.snapshot)


def _hold_other(policy: Policy | None) -> contextlib.AbstractContextManager[ModuleLoader | None]:
    return contextlib.nullcontext() if policy is None else _hold(policy)
