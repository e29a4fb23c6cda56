"""Queries over the records of a log: which ones match, and what each hook did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from random import Random
from typing import Any

from amplifier_audit.errors import AuditError
from amplifier_audit.format.record import Record

SAMPLES = 10_000

_BEGINNING = re.compile(r"\d{4}(-\d\d(-\d\d(T\d\d(:\d\d(:\d\d(\.\d+)?)?)?)?)?)?", re.ASCII)


def parse_time(text: str) -> str:
    """A time as records have it, or the beginning of one, so that texts can be compared."""
    plain = text.strip().replace(" ", "T").removesuffix("Z")
    if _BEGINNING.fullmatch(plain):
        return plain
    try:
        return datetime.fromisoformat(plain).astimezone(UTC).isoformat().removesuffix("+00:00")
    except (ValueError, OverflowError) as error:
        raise AuditError(f"{text!r} is not a time; write 2026-11-15T09:00, in UTC") from error


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Every field that is given must match; times are ISO 8601 in UTC, or the beginning of one."""

    session: str | None = None
    hook: str | None = None
    event: str | None = None
    action: str | None = None
    type: str | None = None
    after: str | None = None
    before: str | None = None

    def matches(self, record: Record) -> bool:
        """Whether a record has all that is asked for."""
        return (
            self._same(record)
            and (self.hook is None or self.hook in list_hooks(record))
            and (self.action is None or self.action in list_actions(record))
            and (self.after is None or record["time"] >= self.after)
            and (self.before is None or record["time"] < self.before)
        )

    def _same(self, record: Record) -> bool:
        wanted = (("session", self.session), ("event", self.event), ("type", self.type))
        return all(value is None or record[name] == value for name, value in wanted)


def list_answers(record: Record) -> list[Mapping[str, Any]]:
    """The answers of hooks in a record; those given again after a wait are `repeated`."""
    if record["type"] == "dispatch":
        answers = record["body"].get("hooks")
        if isinstance(answers, list):
            again = {"repeated": True} if record["body"].get("judged_again") is True else {}
            return [{**one, **again} for one in answers if isinstance(one, dict)]
    if record["type"] == "action_resolved":
        return [{"hook": record["hook"], **record["body"]}]
    return []


def list_hooks(record: Record) -> set[Any]:
    """The names of the hooks in a record."""
    named = [_keep_text(one.get("hook")) for one in list_answers(record)]
    return {_keep_text(record["hook"]), *named} - {None}


def list_actions(record: Record) -> set[Any]:
    """The actions in a record."""
    named = [_keep_text(one.get("action")) for one in list_answers(record)]
    return {_keep_text(record["body"].get("action")), *named} - {None}


def _keep_text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


@dataclass(slots=True)
class HookFigures:
    """What one hook did. Beyond 10,000 calls the times are a fair sample of all."""

    calls: int = 0
    denials: int = 0
    asks: int = 0
    injections: int = 0
    errors: int = 0
    times: list[float] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(0))

    def count(self, answer: Mapping[str, Any]) -> None:
        """Add one answer."""
        # Behind a denial nothing that a hook answers has an effect.
        action = None if answer.get("unheeded") is True else answer.get("action")
        first = not answer.get("repeated")
        self.calls += 1
        self.denials += action == "deny"
        self.asks += first and action == "ask_user"
        self.injections += first and action == "inject_context"
        self.errors += answer.get("error") is not None
        if isinstance(spent := answer.get("ms"), int | float):
            self._sample(float(spent))

    def _sample(self, spent: float) -> None:
        if len(self.times) < SAMPLES:
            self.times.append(spent)
        elif (place := self._random.randrange(self.calls)) < SAMPLES:
            self.times[place] = spent

    def find_quantile(self, share: float) -> float | None:
        """The time, in milliseconds, that this share of the calls did not exceed."""
        if not self.times:
            return None
        ordered = sorted(self.times)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def count_answers(records: Iterable[Record]) -> dict[str, HookFigures]:
    """Per hook, in the order of their names."""
    found: dict[str, HookFigures] = {}
    for record in records:
        for answer in list_answers(record):
            name = _keep_text(answer.get("hook")) or "(unnamed)"
            found.setdefault(name, HookFigures()).count(answer)
    return dict(sorted(found.items()))


def select(records: Iterable[Record], wanted: Filter) -> Iterator[Record]:
    """The records that match."""
    return (record for record in records if wanted.matches(record))
