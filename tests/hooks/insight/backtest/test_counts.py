"""Tallies: they add up, and they survive the way to another process."""

from __future__ import annotations

import json

from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.insight.backtest import Tally
from amplifier_hooks.insight.backtest.counts import (
    MOST_PLACES,
    UnclearGroup,
    count_days,
    find_failures,
    find_unknown_kinds,
    make_report,
)
from amplifier_hooks.insight.backtest.verdicts import KINDS


def _make_tally(time: str) -> Tally:
    tally = Tally(most_examples=2, sessions=1, heard=2)
    tally.add_event_time(time)
    tally.count("newly_denied", "guard")
    tally.count_person("newly_denied", "allowed")
    tally.keep_example("newly_denied", {"time": time})
    tally.add_unclear(UnclearGroup("guard", "messages", "why", 1, [{"sequence": 1}]))
    tally.questions = {time[:10]: [1, 2]}
    tally.stood_in = {"hooks-backup": 1}
    counts = HookCounts()
    for _ in range(10):
        counts.calls += 1
        counts.count_time(0.002)
    tally.add_counts("guard", counts)
    return tally


def test_tallies_add_up_on_both_sides_of_a_pipe() -> None:
    """The sum of two is the same whether or not they were written down."""
    one, two = _make_tally("2026-11-02T"), _make_tally("2026-11-01T")
    total, told = Tally(most_examples=2), Tally(most_examples=2)
    for tally in (one, two, one):
        total.add(tally)
        told.add(Tally.from_dict(json.loads(json.dumps(tally.to_dict()))))
    assert told == total
    assert (total.sessions, total.events, total.heard) == (3, 3, 6)
    assert (total.first, total.last) == ("2026-11-01T", "2026-11-02T")
    assert total.counts == {"newly_denied": 3}
    nothing = {"refused": 0, "not_run": 0, "not_known": 0}
    assert total.people == {"newly_denied": {"allowed": 3, **nothing}}
    assert len(total.examples["newly_denied"]) == 2
    assert total.unclear[0].count == len(total.unclear[0].places) == 3
    assert total.questions == {"2026-11-02": [2, 4], "2026-11-01": [1, 2]}
    assert total.calls == {"guard": 30}
    assert 1.9 < (total.find_quantile("guard", 0.5) or 0) < 2.1


def test_places_are_bounded_and_still_counted() -> None:
    """A session with a million of them does not fill the memory."""
    tally = Tally()
    for number in range(MOST_PLACES + 5):
        tally.add_unclear(UnclearGroup("guard", "messages", "why", 1, [{"sequence": number}]))
    assert tally.unclear[0].count == MOST_PLACES + 5
    assert len(tally.unclear[0].places) == MOST_PLACES


def test_every_kind_of_difference_has_a_number() -> None:
    """A program need not ask whether a key is there."""
    tally = Tally(first="2026-11-01T", last="2026-11-04T", questions={"2026-11-02": [2, 6]})
    tally.count("newly_denied", "guard")
    report = make_report(tally, {"hooks-backup": "it writes files"})
    assert list(report["differences"]) == list(KINDS)
    assert report["differences"]["newly_denied"] == 1
    assert report["questions"]["would_per_day"] == 1.5
    assert report["not_run"] == [
        {"module": "hooks-backup", "why": "it writes files", "answers_taken_in": 0}
    ]
    assert find_failures(report, ("error", "newly_denied")) == ["newly_denied"]


def test_days_are_counted_with_both_ends() -> None:
    """Nothing at all is one day: nobody divides by zero."""
    assert count_days(Tally()) == 1
    assert count_days(Tally(first="2026-10-31T1", last="2026-11-02T2")) == 3
    assert find_unknown_kinds(["error", "denied"]) == ["denied"]
