"""The figures of a hook: what one record of a trail adds to them, and their sums."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

from amplifier_foundation.stores.values.session import SessionRecord

HOUR = 3600.0
BOUNDS = (1, 5, 25, 100, 500, 2500)
"""Milliseconds: how many calls took no longer is counted for each."""

SHADOW = "shadow:"
"""What stands before an action that shadow mode kept from happening."""

_MOST_TOKENS = 2**40
_MOST_MILLISECONDS = 1e12
"""What claims more is forged; one such figure would spoil the sums of all time."""


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


def add_up(every: Iterable[HookFigures]) -> list[HookFigures]:
    """One for each key."""
    found: dict[tuple[float, str, str, str], HookFigures] = {}
    for one in every:
        if one.key in found:
            found[one.key].add(one)
        else:
            found[one.key] = one
    return list(found.values())


def list_figures(record: SessionRecord) -> Iterator[HookFigures]:
    """What a record of a trail tells of hooks."""
    hour = math.floor(record.time / HOUR) * HOUR
    if record.type in ("dispatch", "action_resolved"):
        for answer in _list_answers(record):
            yield _read_answer(hour, record.event, answer)
    elif record.hook and record.type in _READERS:
        action, read = _READERS[record.type]
        figures = HookFigures(hour, record.hook, record.event, action)
        read(figures, record.body)
        yield figures


def _list_answers(record: SessionRecord) -> list[Mapping[str, Any]]:
    hooks: Any = record.body.get("hooks") if record.type == "dispatch" else [record.body]
    found = hooks if isinstance(hooks, list) else []
    return [one for one in found if isinstance(one, dict) and isinstance(one.get("hook"), str)]


def _read_answer(hour: float, event: str, answer: Mapping[str, Any]) -> HookFigures:
    action, shadowed = str(answer.get("action") or "continue"), answer.get("shadowed")
    if isinstance(shadowed, str) and shadowed:
        action = SHADOW + shadowed
    elif answer.get("unheeded") is True:
        action = "continue"
    failed = answer.get("error") is not None
    figures = HookFigures(hour, answer["hook"], event, action, 1, failures=int(failed))
    figures.timeouts = int(failed and answer.get("timed_out") is True)
    spent = answer.get("ms")
    if (
        isinstance(spent, int | float)
        and not isinstance(spent, bool)
        and 0 <= spent <= _MOST_MILLISECONDS
    ):
        figures.milliseconds = figures.slowest = float(spent)
        figures.timed = 1
        for bound in BOUNDS:
            setattr(figures, f"within_{bound}", int(spent <= bound))
    return figures


def _read_request(figures: HookFigures, body: Mapping[str, Any]) -> None:
    figures.asked = 1


def _read_decision(figures: HookFigures, body: Mapping[str, Any]) -> None:
    allowed = body.get("allowed") is True
    figures.allowed, figures.refused = int(allowed), int(not allowed)
    figures.overruled = int(allowed and body.get("how") == "person")


def _read_expiry(figures: HookFigures, body: Mapping[str, Any]) -> None:
    figures.expired = 1


def _read_injection(figures: HookFigures, body: Mapping[str, Any]) -> None:
    tokens = body.get("tokens")
    if type(tokens) is int and 0 <= tokens <= _MOST_TOKENS:
        figures.injected_tokens = tokens


_READERS = {
    "approval_requested": ("ask_user", _read_request),
    "approval_decided": ("ask_user", _read_decision),
    "approval_expired": ("ask_user", _read_expiry),
    "injection_accepted": ("inject_context", _read_injection),
}
