"""The report of a backtest: for machines, in a form that later versions keep."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date
from typing import Any

from amplifier_hooks.insight.backtest.comparison import KINDS
from amplifier_hooks.insight.backtest.tally import Tally

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
