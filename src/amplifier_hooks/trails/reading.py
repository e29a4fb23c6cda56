"""Reads a trail as values, one after another: a trail may be larger than the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from amplifier_audit.files.log_files import LogFiles, open_readable
from amplifier_audit.format.record import Record
from amplifier_audit.reader.queries import Filter
from amplifier_audit.reader.records import read_records
from amplifier_audit.reader.values import reveal
from amplifier_hooks.trails.gaps import find_masked, find_missing
from amplifier_hooks.trails.handovers import follow_handovers
from amplifier_hooks.trails.recorded import (
    Item,
    Note,
    RecordedAnswer,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
    Stage,
)

_STATES = ("allowed", "not_run")
_SETTLED = ("not_known", "not_run")
UNNAMED = "(unnamed)"
"""The hook of an answer without one; no session writes such answers."""
_LONGEST = 1e12
"""Milliseconds or seconds that anything may have taken; what claims to be longer is forged."""


def read_history(path: Path) -> Iterator[Item]:
    """What a trail tells, in order; committed values are filled in where they are kept."""
    return read_items(read_revealed(open_readable(path)))


def read_revealed(files: LogFiles) -> Iterator[Record]:
    """The records of a log, with committed values filled in where they are kept."""
    return reveal(read_records(files), files.directory.values if files.directory else None)


def read_items(records: Iterable[Record]) -> Iterator[Item]:
    """Records as values; one that says nothing usable is a `Note`.

    What came of a question that another program asked is there as soon as something shows it.
    """
    return follow_handovers(map(read_item, records))


def read_matching(records: Iterable[Record], wanted: Filter) -> Iterator[Item]:
    """The items of those records that match; all are read, as one may say what others mean.

    What is known of a handed-over question belongs to the time of that question. Registrations and
    how a trail was opened are there in any case: they hold for all that follows.
    """
    timeless = replace(wanted, after=None, before=None)
    matches = True

    def watch() -> Iterator[Record]:
        nonlocal matches
        for record in records:
            matches = timeless.matches(record)
            yield record

    for item in read_items(watch()):
        if holds_for_all(item) or (matches and _is_between(item, wanted)):
            yield item


def holds_for_all(item: Item) -> bool:
    """Whether it says what the rest of a trail means, whichever part of that is wanted."""
    return isinstance(item, RecordedHook) or (isinstance(item, Note) and item.type == "log_opened")


def _is_between(item: Any, wanted: Filter) -> bool:
    time = item.counted_at
    return (wanted.after or "") <= time and (wanted.before is None or time < wanted.before)


def read_item(record: Record) -> Item:
    """One record by itself."""
    read = _READERS.get(record["type"], _read_note)
    try:
        return read(record)
    except RecursionError:
        # Nested deeper than any writer nests; some versions of Python read even that.
        return _read_note({**record, "body": {}})


def _place(record: Record) -> dict[str, Any]:
    return {
        "sequence": record["seq"],
        "time": record["time"],
        "session": _text(record["session"]),
        "turn": record["turn"] if type(record["turn"]) is int else 0,
        "event": _text(record["event"]),
    }


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _duration(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and 0 <= value <= _LONGEST else None


def _read_note(record: Record) -> Note:
    hook = _text(record["hook"])
    return Note(**_place(record), type=record["type"], hook=hook, body=record["body"])


def _read_event(record: Record) -> Item:
    body = record["body"]
    left = body.get("data")
    event, before = _text(record["event"]), body.get("before")
    if not (isinstance(left, dict) and event.strip()):
        return _read_note(record)
    data = _go_back(left, before) if isinstance(before, dict) else left
    missing = find_missing(event, data)
    if data is not left:
        find_missing(event, left)  # refuses what is nested without end there too
    return RecordedEvent(
        **_place(record),
        data=data,
        left=left,
        answers=read_answers(body),
        action=_text(body.get("action")) or "continue",
        reason=_text(body.get("reason")),
        again=body.get("judged_again") is True,
        missing=missing,
        masked=tuple(find_masked(data)),
    )


def _go_back(left: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The data before hooks changed them; a field that they added has `null` there."""
    merged = {**left, **before}
    return {key: value for key, value in merged.items() if value is not None or key not in before}


def read_answers(body: Mapping[str, Any]) -> tuple[RecordedAnswer, ...]:
    """What hooks answered to an event."""
    hooks = body.get("hooks")
    found = hooks if isinstance(hooks, list) else ()
    return tuple(read_answer(one) for one in found if isinstance(one, dict))


def read_answer(body: Mapping[str, Any]) -> RecordedAnswer:
    """What one hook answered, as records describe it."""
    error, ident = body.get("error"), body.get("id")
    return RecordedAnswer(
        hook=_text(body.get("hook")) or UNNAMED,
        id=ident if type(ident) is int else 0,
        action=_text(body.get("action")) or "continue",
        ms=_duration(body.get("ms")),
        reason=_text(body.get("reason")),
        error=None if error is None else str(error),
        timed_out=body.get("timed_out") is True,
        unheeded=body.get("unheeded") is True,
        shadowed=_text(body.get("shadowed")),
    )


def _read_approval(stage: Stage) -> Callable[[Record], Item]:
    def read(record: Record) -> Item:
        body, registration = record["body"], record["registration"]
        options, settles, state = body.get("options"), body.get("settles"), body.get("state")
        if stage == "outcome" and state not in _STATES:
            return _read_note(record)
        return RecordedApproval(
            **_place(record),
            stage=stage,
            hook=_text(record["hook"]),
            id=registration if type(registration) is int else None,
            digest=_text(body.get("digest")),
            prompt=_text(body.get("prompt")),
            tool=_text(body.get("tool")),
            call_id=_text(body.get("id")),
            input=body.get("input"),
            allowed=body.get("allowed") is True,
            how=_text(body.get("how")) or ("cache" if stage == "remembered" else ""),
            by=_text(body.get("by")),
            decision=_text(body.get("decision")),
            comment=_text(body.get("comment")),
            detail=_text(body.get("detail")),
            edited=body.get("edited") is True,
            options=tuple(one for one in options if isinstance(one, str))
            if isinstance(options, list)
            else (),
            again=body.get("again") is True,
            to=_text(body.get("to")),
            goes_on=body.get("goes_on") is True,
            state=_text(state),
            evidence=_text(body.get("evidence")),
            settles=settles if settles in _SETTLED else "",
            handed_at=_text(body.get("handed_over_at")),
        )

    return read


def _read_started(record: Record) -> Item:
    body = record["body"]
    return RecordedCall(
        **_place(record),
        stage="started",
        tool=_text(body.get("tool")),
        call_id=_text(body.get("id")),
        digest=_text(body.get("digest")),
        gated=body.get("gated") is True,
    )


def _read_finished(record: Record) -> Item:
    body, success = record["body"], record["body"].get("success")
    return RecordedCall(
        **_place(record),
        stage="finished",
        tool=_text(body.get("tool")),
        call_id=_text(body.get("id")),
        digest=_text(body.get("digest")),
        outcome=_text(body.get("outcome")),
        success=success if isinstance(success, bool) else None,
        ms=_duration(body.get("ms")),
    )


def _read_hook(record: Record) -> Item:
    body, registration, priority = record["body"], record["registration"], 0
    if type(registration) is not int:
        return _read_note(record)
    if type(body.get("priority")) is int:
        priority = body["priority"]
    return RecordedHook(
        id=registration,
        name=_text(record["hook"]),
        event=_text(record["event"]),
        priority=priority,
        on_error=_text(body.get("on_error")) or "continue",
        timeout=_duration(body.get("timeout")),
        module=_text(body.get("module")),
        kind=_text(body.get("kind")),
        shadow=body.get("shadow") is True,
    )


_READERS: dict[str, Callable[[Record], Item]] = {
    "dispatch": _read_event,
    "approval_requested": _read_approval("requested"),
    "approval_handed_over": _read_approval("handed_over"),
    "approval_outcome": _read_approval("outcome"),
    "approval_decided": _read_approval("decided"),
    "approval_expired": _read_approval("expired"),
    "approval_cancelled": _read_approval("cancelled"),
    "approval_cache_hit": _read_approval("remembered"),
    "tool_started": _read_started,
    "tool_finished": _read_finished,
    "hook_registered": _read_hook,
}
