"""Which records are wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC
from typing import Annotated, Any

from pydantic import Field

from amplifier_audit.format.record import Record
from amplifier_audit.reader import queries
from amplifier_core.utils.nested import iterate_texts
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.tool import Arguments
from amplifier_hooks.text.moments import NoMoment, parse_moment

Name = Annotated[str, Field(min_length=1, max_length=200)]
Time = Annotated[str, Field(max_length=40)]
_TIME = "A time in UTC or the beginning of one, such as 2026-11-15T09:00, or 24h or 7d ago."


class FilterArguments(Arguments):
    """What records must have; everything that is given must match."""

    event: Name | None = Field(None, description="Only this event, such as tool:pre.")
    hook: Name | None = Field(None, description="Only records that name this hook.")
    action: Name | None = Field(None, description="Only this action, such as deny.")
    type: Name | None = Field(
        None, description="Only this type of record, such as approval_decided."
    )
    since: Time | None = Field(None, description=f"From this time on. {_TIME}")
    until: Time | None = Field(None, description=f"Before this time. {_TIME}")

    def build_filter(self) -> queries.Filter:
        """The same for the reader of trails; Refused for what is no time."""
        return queries.Filter(
            event=self.event,
            hook=self.hook,
            action=self.action,
            type=self.type,
            after=_parse_time("since", self.since),
            before=_parse_time("until", self.until),
        )


def _parse_time(name: str, text: str | None) -> str | None:
    try:
        return None if text is None else parse_moment(text, zone=UTC)
    except NoMoment as error:
        raise Refused(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True)
class RecordFilter:
    """The records with all that is asked for.

    A text is looked for in what the caller may see: who could search the rest could find a secret
    letter by letter.
    """

    wanted: queries.Filter
    tool: str | None
    text: str | None
    mask: Callable[[Any], Any]

    def matches(self, record: Record) -> bool:
        """Whether a record has it."""
        if not self.wanted.matches(record):
            return False
        if self.tool is not None and name_tool(record) != self.tool:
            return False
        return self.text is None or self._holds(record, self.text.casefold())

    def _holds(self, record: Record, text: str) -> bool:
        return _find(text, record["body"]) and _find(text, self.mask(record["body"]))


def _find(text: str, value: Any) -> bool:
    return any(text in one.casefold() for one in iterate_texts(value))


def name_tool(record: Record) -> str | None:
    """The tool that a record is about, if it is about one."""
    body = record["body"]
    data = body.get("data")
    inner = data.get("tool_name") if isinstance(data, dict) else None
    found = inner or body.get("tool") or body.get("tool_name")
    return found if isinstance(found, str) else None
