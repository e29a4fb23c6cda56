"""Queries over the records of a log: which ones match, and what hooks answered in them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from amplifier_audit.errors import AuditError
from amplifier_audit.format.record import Record

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
    """The answers of hooks in a record."""
    if record["type"] == "dispatch":
        answers = record["body"].get("hooks")
        if isinstance(answers, list):
            return [one for one in answers if isinstance(one, dict)]
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


def select(records: Iterable[Record], wanted: Filter) -> Iterator[Record]:
    """The records that match."""
    return (record for record in records if wanted.matches(record))
