"""The questions that were put to people while a session was recorded."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from amplifier_hooks.trails import RecordedApproval, RecordedEvent


@dataclass(slots=True)
class Asked:
    """A recorded question and how it ended, if it did."""

    request: RecordedApproval
    end: RecordedApproval | None = None
    edited_input: dict[str, Any] | None = None


def collect_questions(items: Iterable[Any]) -> list[Asked]:
    """The questions of a session, each with its end and what a person changed."""
    found: list[Asked] = []
    edited: list[Asked] = []
    for item in items:
        if isinstance(item, RecordedApproval):
            if item.stage == "requested":
                found.append(Asked(item))
            elif item.stage != "outcome" and (asked := _find_open(found, item)) is not None:
                asked.end = item
                edited += [asked] if item.edited else []
        elif isinstance(item, RecordedEvent):
            edited = [one for one in edited if not _take_edit(one, item)]
    return found


def _find_open(found: list[Asked], end: RecordedApproval) -> Asked | None:
    for one in found:
        same = one.request.digest == end.digest and one.request.hook == end.hook
        if one.end is None and same and end.stage != "remembered":
            return one
    return None


def _take_edit(asked: Asked, event: RecordedEvent) -> bool:
    """Find what a person made of an input: it was judged next."""
    same_call = event.data.get("tool_call_id") == asked.request.call_id
    if event.event != asked.request.event or not event.again or not same_call:
        return False
    given = event.data.get("tool_input")
    asked.edited_input = given if isinstance(given, dict) else None
    return True
