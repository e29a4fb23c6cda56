"""Figures of a backtest, which add up over sessions, and the report of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import date
from typing import Any, Self

from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.insight.backtest.verdicts import KINDS

STATES = ("allowed", "refused", "not_run", "not_known")
"""What came of a question: the last two of those that another program asked its own person."""

MOST_PLACES = 1_000
"""Places of one group that are kept for each session; beyond that they are only counted."""


@dataclass(slots=True)
class UnclearGroup:
    """Why some decisions cannot be told, and exactly where."""

    hook: str
    path: str
    """The field that somebody looked at, or those that were masked."""
    why: str
    count: int = 0
    places: list[dict[str, Any]] = field(default_factory=list)
    """Trail, sequence and event of each."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What groups them."""
        return self.hook, self.path, self.why

    def add(self, count: int, places: Iterable[dict[str, Any]]) -> None:
        """Count more of the same."""
        self.count += count
        room = MOST_PLACES - len(self.places)
        self.places += list(places)[: max(0, room)]


@dataclass(slots=True)
class Tally:
    """The figures of one session, or of many."""

    most_examples: int = 3
    sessions: int = 0
    events: int = 0
    heard: int = 0
    """Events that hooks were told of, then or now."""
    first: str = ""
    last: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    hooks: dict[str, dict[str, int]] = field(default_factory=dict)
    people: dict[str, dict[str, int]] = field(default_factory=dict)
    """By kind of difference and `STATES`: what had come then of questions about the same."""
    examples: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    unclear: list[UnclearGroup] = field(default_factory=list)
    questions: dict[str, list[int]] = field(default_factory=dict)
    """By day: how many were put then, and how many would be."""
    times: dict[str, dict[str, int]] = field(default_factory=dict)
    calls: dict[str, int] = field(default_factory=dict)
    stood_in: dict[str, int] = field(default_factory=dict)
    """By module that is not run: in how many sessions its recorded answers were taken."""
    unreadable: list[dict[str, str]] = field(default_factory=list)
    """Trails that cannot be judged, each with the reason."""

    def count(self, kind: str, hook: str) -> None:
        """Count a difference."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        own = self.hooks.setdefault(hook or "(nobody)", {})
        own[kind] = own.get(kind, 0) + 1

    def keep_example(self, kind: str, example: dict[str, Any]) -> bool:
        """Keep an example, unless there are enough; whether it was kept."""
        kept = self.examples.setdefault(kind, [])
        if len(kept) < self.most_examples:
            kept.append(example)
            return True
        return False

    def count_person(self, kind: str, state: str, settles: str = "") -> None:
        """Count what came of a question about an operation that is judged differently now.

        `settles` is what was counted of it before, if it was handed over to another program.
        """
        own = self.people.setdefault(kind, dict.fromkeys(STATES, 0))
        own[state] += 1
        if settles:
            own[settles] -= 1

    def add_unclear(self, one: UnclearGroup) -> None:
        """Count events whose decision cannot be told."""
        known = next((known for known in self.unclear if known.key == one.key), None)
        if known is None:
            known = UnclearGroup(one.hook, one.path, one.why)
            self.unclear.append(known)
        known.add(one.count, one.places)

    def add_counts(self, name: str, counts: HookCounts) -> None:
        """Take in how often and how long a hook ran."""
        self.calls[name] = self.calls.get(name, 0) + counts.calls
        _add(self.times.setdefault(name, {}), {str(k): n for k, n in counts.times.items()})

    def find_quantile(self, name: str, share: float) -> float | None:
        """The time, in milliseconds, that this share of a hook's calls did not exceed."""
        counts = HookCounts()
        counts.times = {int(place): number for place, number in self.times[name].items()}
        return counts.find_quantile(share)

    def add_event_time(self, time: str) -> None:
        """An event of this time counts."""
        self.events += 1
        if not self.first or time < self.first:
            self.first = time
        self.last = max(self.last, time)

    def add(self, other: Tally) -> None:
        """Take in the figures of other sessions."""
        self.sessions += other.sessions
        self.events += other.events
        self.heard += other.heard
        self.first = min(filter(None, (self.first, other.first)), default="")
        self.last = max(self.last, other.last)
        _add(self.counts, other.counts)
        _add(self.calls, other.calls)
        _add(self.stood_in, other.stood_in)
        for ours, theirs in (
            (self.hooks, other.hooks),
            (self.people, other.people),
            (self.times, other.times),
        ):
            for name, figures in theirs.items():
                _add(ours.setdefault(name, {}), figures)
        for day, (then, now) in other.questions.items():
            own = self.questions.setdefault(day, [0, 0])
            own[0] = own[0] + then
            own[1] = own[1] + now
        for kind, examples in other.examples.items():
            for one in examples:
                self.keep_example(kind, one)
        for unclear in other.unclear:
            self.add_unclear(unclear)
        self.unreadable += other.unreadable

    def to_dict(self) -> dict[str, Any]:
        """For another process, or a file."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The reverse of `to_dict`."""
        return cls(**{**values, "unclear": [UnclearGroup(**one) for one in values["unclear"]]})


def _add(ours: dict[str, int], theirs: Mapping[str, int]) -> None:
    for name, number in theirs.items():
        ours[name] = ours.get(name, 0) + number


VERSION = 1


def make_report(tally: Tally, acting: Mapping[str, str]) -> dict[str, Any]:
    """The figures of a tally, with every kind of difference named; `acting` modules did not run."""
    return {
        "version": VERSION,
        "sessions": tally.sessions,
        "events": tally.events,
        "judged": tally.heard,
        "first": tally.first,
        "last": tally.last,
        "differences": {kind: tally.counts.get(kind, 0) for kind in KINDS},
        "by_hook": {name: dict(figures) for name, figures in sorted(tally.hooks.items())},
        "people": tally.people,
        "examples": tally.examples,
        "cannot_tell": [
            {
                "hook": one.hook,
                "field": one.path,
                "why": one.why,
                "count": one.count,
                "places": one.places,
            }
            for one in sorted(tally.unclear, key=lambda one: -one.count)
        ],
        "questions": count_questions(tally),
        "times": {name: describe_times(tally, name) for name in sorted(tally.times)},
        "not_run": [
            {"module": name, "why": why, "answers_taken_in": tally.stood_in.get(name, 0)}
            for name, why in sorted(acting.items())
        ],
        "unreadable": tally.unreadable,
    }


def count_questions(tally: Tally) -> dict[str, Any]:
    """How many questions people were put, and how many they would be, by day and on average."""
    then = sum(counts[0] for counts in tally.questions.values())
    would = sum(counts[1] for counts in tally.questions.values())
    days = count_days(tally)
    return {
        "then": then,
        "would": would,
        "days": days,
        "then_per_day": round(then / days, 2),
        "would_per_day": round(would / days, 2),
        "by_day": {
            day: {"then": counts[0], "would": counts[1]}
            for day, counts in sorted(tally.questions.items())
        },
    }


def count_days(tally: Tally) -> int:
    """The days from the first event to the last, both included."""
    try:
        first, last = (date.fromisoformat(one[:10]) for one in (tally.first, tally.last))
    except ValueError:
        return 1
    return (last - first).days + 1


def describe_times(tally: Tally, name: str) -> dict[str, Any]:
    """How often a hook ran, and how long it took, in milliseconds."""
    return {
        "calls": tally.calls.get(name, 0),
        "p50_ms": tally.find_quantile(name, 0.5),
        "p99_ms": tally.find_quantile(name, 0.99),
    }


def find_failures(report: Mapping[str, Any], kinds: Collection[str]) -> list[str]:
    """Those of some kinds of difference that there are."""
    return [kind for kind in kinds if report["differences"].get(kind)]


def find_unknown_kinds(kinds: Iterable[str]) -> list[str]:
    """The names that are no kind of difference."""
    return [one for one in kinds if one not in KINDS]
