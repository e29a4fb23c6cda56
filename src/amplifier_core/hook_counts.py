"""Counters of a hook: calls, answers, failures, time, injections and approvals."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self, TypeVar

_Key = TypeVar("_Key", str, int)

_FINE = 4
"""Bits of a time that are kept: it is known to about three of a hundred."""

APPROVALS = (
    "asked",
    "allowed",
    "refused",
    "expired",
    "remembered",
    "overruled",
    "handed_over",
    "not_run",
    "not_known",
)
"""The figures of a hook's questions."""


class HookCounts:
    """The figures of one hook, or of several that go by one name.

    What shadow mode kept from happening is in `shadowed`, and what stood behind a denial in
    `unheeded`: in `answers` these two are a `continue`. `ignored` are those of the answers that
    nothing could carry out, and messages that could not be shown.
    """

    calls: int = 0
    failures: int = 0
    timeouts: int = 0
    unheeded: int = 0
    injected_tokens: int = 0
    asked: int = 0
    allowed: int = 0
    refused: int = 0
    expired: int = 0
    remembered: int = 0
    overruled: int = 0
    """How often a person allowed what this hook asked about: a false alarm."""
    handed_over: int = 0
    """How many of its questions another program asked its own person."""
    not_run: int = 0
    """How many of those are known to have come to nothing: what was asked about did not run."""
    not_known: int = 0
    """Of how many of those nobody knows what the person said; the others were allowed."""
    contradicted: int = 0
    """How many calls that this hook denied ran all the same, as another program showed."""
    answers: Mapping[str, int] = MappingProxyType({})
    shadowed: Mapping[str, int] = MappingProxyType({})
    ignored: Mapping[str, int] = MappingProxyType({})
    times: Mapping[int, int] = MappingProxyType({})
    """How many calls took how long."""

    def count_call(self, seconds: float) -> None:
        """Count a call, and how long it took."""
        self.calls += 1
        self.count_time(seconds)

    def count_answer(self, action: str, shadowed: bool, unheeded: bool) -> None:
        """Count an answer that was more than a plain continue."""
        if shadowed:
            self.shadowed = _count(self.shadowed, action)
        elif unheeded:
            self.unheeded += 1
        else:
            self.answers = _count(self.answers, action)

    def count_ignored(self, what: str) -> None:
        """Count an answer, which was counted as one, that had no effect."""
        self.ignored = _count(self.ignored, what)

    def count_failure(self, timed_out: bool) -> None:
        """Count a failure."""
        self.failures += 1
        self.timeouts += timed_out

    def count_decision(self, allowed: bool, how: str) -> None:
        """Count what became of a question that this hook asked."""
        if how == "timeout":
            self.expired += 1
        elif allowed:
            self.allowed += 1
            self.overruled += how == "person"
        else:
            self.refused += 1

    def count_handover(self) -> None:
        """Count a question that another program asks its own person."""
        self.handed_over += 1
        self.not_known += 1

    def count_outcome(self, state: str, settles: str) -> None:
        """Count what is known now of such a question, in the place of what it `settles`."""
        self.retract(settles)
        if state == "allowed":
            self.allowed += 1
            self.overruled += 1
        else:
            self.not_run += 1

    def retract(self, settles: str) -> None:
        """Take back what was counted of a question that was handed over, now that more is known."""
        self.not_known -= settles == "not_known"
        self.not_run -= settles == "not_run"

    def count_time(self, seconds: float, calls: int = 1) -> None:
        """Count the time of a call, in microseconds as trails have it, or of several alike."""
        spent = int(seconds * 1e6 + 0.5) * 1000
        coarse = spent.bit_length() - _FINE - 1
        place = (coarse << _FINE) + (spent >> coarse) if coarse > 0 else spent
        self.times = _count(self.times, place, calls)

    def find_quantile(self, share: float) -> float | None:
        """The time, in milliseconds, that this share of the timed calls did not exceed."""
        left = share * sum(self.times.values())
        for place, count in sorted(self.times.items()):
            left -= count
            if left <= 0:
                return _get_middle(place) / 1e6
        return None

    def add(self, other: HookCounts) -> Self:
        """Take the figures of another one in."""
        for name, theirs in vars(other).items():
            ours = getattr(self, name)
            setattr(self, name, ours + theirs if isinstance(ours, int) else _add(ours, theirs))
        return self

    @property
    def is_used(self) -> bool:
        """Whether anything was counted."""
        return bool(vars(self))

    def summarize(self) -> dict[str, Any]:
        """The figures that a short table has, by the names that machines read."""
        return {
            "calls": self.calls,
            "denials": self.answers.get("deny", 0),
            "asks": self.asked,
            "injections": self.answers.get("inject_context", 0),
            "errors": self.failures,
            **self._list_times(),
        }

    def _list_times(self) -> dict[str, float | None]:
        return {f"p{n}_ms": self.find_quantile(n / 100) for n in (50, 95, 99)}

    def to_dict(self) -> dict[str, Any]:
        """The figures for events, records and machines; times are in milliseconds."""
        spoken = sum(self.answers.values())
        return {
            "calls": self.calls,
            "answers": {"continue": self.calls - spoken, **self.answers},
            "failures": self.failures,
            "timeouts": self.timeouts,
            "unheeded": self.unheeded,
            "contradicted": self.contradicted,
            "shadowed": dict(self.shadowed),
            "ignored": dict(self.ignored),
            **self._list_times(),
            "injected_tokens": self.injected_tokens,
            "approvals": {name: getattr(self, name) for name in APPROVALS},
        }


def list_figures(counts: Mapping[str, HookCounts]) -> dict[str, dict[str, Any]]:
    """The figures of each hook of which anything was counted, by name."""
    return {name: one.to_dict() for name, one in counts.items() if one.is_used}


def _get_middle(place: int) -> float:
    """A time, in nanoseconds, that stands for all in one place."""
    coarse = max(0, (place >> _FINE) - 1)
    return float(((place - (coarse << _FINE)) << coarse) + ((1 << coarse) >> 1))


def _count(ours: Mapping[_Key, int], key: _Key, more: int = 1) -> Mapping[_Key, int]:
    """One more of these, or several, in a dict of their own."""
    if type(ours) is not dict:  # the empty one that all begin with
        return {key: more}
    ours[key] = ours.get(key, 0) + more
    return ours


def _add(ours: Mapping[_Key, int], theirs: Mapping[_Key, int]) -> dict[_Key, int]:
    return {**ours, **{key: ours.get(key, 0) + count for key, count in theirs.items()}}
