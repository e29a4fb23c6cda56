"""Which records are asked for."""

from __future__ import annotations

from dataclasses import dataclass

from amplifier_audit.record import Record
from amplifier_core.records import DispatchRecorded, HookAnswer, Other
from amplifier_hooks.trails.bodies import Body, read_body
from amplifier_hooks.trails.quiet import QuietEvent


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

    def matches_quiet(self, event: QuietEvent) -> bool:
        """The same of the record that tells of a quiet event."""
        return (
            self.type in (None, "dispatch")
            and self.action in (None, "continue")
            and self.session in (None, event.session)
            and self.event in (None, event.event)
            and (self.hook is None or self.hook in event.list_hooks())
            and (self.after is None or event.time >= self.after)
            and (self.before is None or event.time < self.before)
        )

    def _same(self, record: Record) -> bool:
        wanted = (("session", self.session), ("event", self.event), ("type", self.type))
        return all(value is None or record[name] == value for name, value in wanted)


def list_hooks(record: Record) -> set[str]:
    """The names of the hooks in a record."""
    own = {record["hook"]} if isinstance(record["hook"], str) else set()
    return own | {one.hook for one in _list_answers(read_body(record))}


def list_actions(record: Record) -> set[str]:
    """The actions in a record."""
    body = read_body(record)
    own = body.members.get("action") if isinstance(body, Other) else getattr(body, "action", None)
    found = {own} if isinstance(own, str) else set()
    return found | {one.action for one in _list_answers(body)}


def _list_answers(body: Body) -> tuple[HookAnswer, ...]:
    if isinstance(body, HookAnswer):
        return (body,)
    return body.hooks if isinstance(body, DispatchRecorded) else ()
