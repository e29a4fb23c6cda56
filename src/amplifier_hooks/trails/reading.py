"""Reads a trail as values, one after another: a trail may be larger than the memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Any

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import LogFiles, open_readable, parse_or_none
from amplifier_audit.own_records import LogOpened
from amplifier_audit.reader import read_records, read_whole_lines
from amplifier_audit.record import Record
from amplifier_audit.value_store import may_hold_commitment, open_revealer
from amplifier_core.records import (
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalExpired,
    ApprovalHandedOver,
    ApprovalOutcome,
    ApprovalRemembered,
    ApprovalRequested,
    DispatchRecorded,
    HookRegistered,
    SessionEnded,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    plain,
)
from amplifier_hooks.trails.bodies import Body, BundleLoaded, read_body
from amplifier_hooks.trails.filters import Filter
from amplifier_hooks.trails.gaps import find_masked, find_missing
from amplifier_hooks.trails.handovers import HEARD, HandoverFollower
from amplifier_hooks.trails.quiet import QuietEvent, read_quiet
from amplifier_hooks.trails.recorded import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
    RecordedHook,
)

Entry = Record | QuietEvent


def read_history(path: Path, heard: Collection[str] | None = None) -> Iterator[Item]:
    """What a trail tells, in order; committed values are filled in where they are kept.

    Quiet events that are not `heard` are told as such; without it, each event is told in full.
    """
    return read_items(read_entries(open_readable(path), heard))


def read_entries(
    log: LogFiles,
    heard: Collection[str] | None = None,
    progress: Callable[[int], None] | None = None,
    *,
    with_gaps: bool = True,
) -> Iterator[Entry]:
    """The records of a log, with committed values filled in where they are kept.

    In the place of those that only tell of a quiet event that is not `heard` there is just that; a
    line that was changed is read as any other record, and so is, unless quiet events are wanted
    `with_gaps`, one in which values may be missing or masked. `progress` is told how many bytes
    are read.
    """
    names = frozenset(one.encode() for one in {*heard, *HEARD}) if heard is not None else None
    with open_revealer(log.directory.values if log.directory else None) as fill_in:
        for line in read_whole_lines(log, progress):
            quiet = None if names is None else read_quiet(line, names)
            if quiet is not None and (with_gaps or not quiet.may_have_gaps):
                yield quiet
            elif (record := parse_or_none(line)) is not None:
                yield fill_in(record) if may_hold_commitment(line) else record


def read_items(entries: Iterable[Entry]) -> Iterator[Item]:
    """Records as values; one that says nothing usable is a `Note`.

    What came of a question that another program asked is there as soon as something shows it.
    """
    follower = HandoverFollower()
    for entry in entries:
        if isinstance(entry, QuietEvent):
            yield entry
        else:
            yield from follower.take(read_item(entry))


def read_matching(entries: Iterable[Entry], wanted: Filter) -> Iterator[Item]:
    """The items of those records that match; all are read, as one may say what others mean.

    What is known of a handed-over question belongs to the time of that question. Registrations and
    how a trail was opened are there in any case: they hold for all that follows.
    """
    timeless = replace(wanted, after=None, before=None)
    everything = wanted == Filter()
    follower = HandoverFollower()
    for entry in entries:
        if isinstance(entry, QuietEvent):
            if everything or wanted.matches_quiet(entry):
                yield entry
            continue
        matches = timeless.matches(entry)
        for item in follower.take(read_item(entry)):
            if holds_for_all(item) or (matches and _is_between(item, wanted)):
                yield item


def holds_for_all(item: Item) -> bool:
    """Whether it says what the rest of a trail means, whichever part of that is wanted."""
    return isinstance(item, RecordedHook) or (
        isinstance(item, Note) and isinstance(item.body, LogOpened)
    )


def _is_between(item: Any, wanted: Filter) -> bool:
    time = item.counted_at
    return (wanted.after or "") <= time and (wanted.before is None or time < wanted.before)


def read_item(record: Record, *, with_events: bool = True) -> Item:
    """One record by itself; without events, what hooks answered to one is a `Note`."""
    try:
        body = read_body(record)
        if isinstance(body, DispatchRecorded) and not with_events:
            return _read_note(record, body)
        return _read_known(record, body)
    except RecursionError:
        # Nested deeper than any writer nests; some versions of Python read even that.
        return _read_note(record, read_body({**record, "body": _leave_out_data(record["body"])}))


def _leave_out_data(body: Mapping[str, Any]) -> dict[str, Any]:
    """What hooks answered counts, whatever it was about."""
    return {name: body[name] for name in ("action", "hooks") if name in body}


def _read_known(record: Record, body: Body) -> Item:
    match body:
        case DispatchRecorded():
            return _read_event(record, body)
        case ToolStarted() | ToolFinished():
            return _read_call(record, body)
        case HookRegistered():
            return _read_hook(record, body)
    return _read_approval(record, body) or _read_note(record, body)


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


def _read_note(record: Record, body: Body) -> Note:
    return Note(**_place(record), hook=_text(record["hook"]), body=body)


def _read_event(record: Record, body: DispatchRecorded) -> Item:
    event = _text(record["event"])
    left = body.data
    if left is None or not event.strip():
        return _read_note(record, body)
    data = dict(left) if body.before is None else _go_back(left, body.before)
    missing = find_missing(event, data)
    if body.before is not None:
        find_missing(event, left)  # refuses what is nested without end there too
    return RecordedEvent(
        **_place(record),
        data=data,
        left=data if body.before is None else dict(left),
        answers=body.hooks,
        action=body.action,
        reason=plain(body.reason),
        again=body.judged_again,
        missing=missing,
        masked=tuple(find_masked(data)),
    )


def _go_back(left: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """The data before hooks changed them; a field that they added has `null` there."""
    merged = {**left, **before}
    return {key: value for key, value in merged.items() if value is not None or key not in before}


_ApprovalStep = (
    ApprovalRequested
    | ApprovalHandedOver
    | ApprovalOutcome
    | ApprovalDecided
    | ApprovalExpired
    | ApprovalCancelled
    | ApprovalRemembered
)


def _read_approval(record: Record, body: Body) -> RecordedApproval | None:
    """A step of a question; None if it is none."""
    if not isinstance(body, _ApprovalStep):
        return None
    registration = record["registration"]
    step = RecordedApproval(
        **_place(record),
        stage="requested",
        hook=_text(record["hook"]),
        id=registration if type(registration) is int else None,
        digest=body.digest,
    )
    match body:
        case ApprovalRequested():
            return replace(
                step,
                prompt=plain(body.prompt),
                tool=body.tool or "",
                call_id=body.id,
                input=body.input,
                options=body.options,
                again=body.again,
            )
        case ApprovalHandedOver():
            return replace(
                step,
                stage="handed_over",
                tool=body.tool or "",
                call_id=body.id,
                again=body.again,
                to=body.to,
                goes_on=body.goes_on,
            )
        case ApprovalOutcome():
            return _read_outcome(step, body)
        case ApprovalDecided() | ApprovalExpired():
            return _read_decision(step, body)
        case ApprovalCancelled():
            return replace(step, stage="cancelled")
        case ApprovalRemembered():
            return replace(
                step,
                stage="remembered",
                prompt=plain(body.prompt),
                decision=plain(body.decision),
                by=body.by,
                how="cache",
            )


def _read_outcome(step: RecordedApproval, body: ApprovalOutcome) -> RecordedApproval | None:
    """What another program's person decided, as far as it was seen."""
    if body.state not in ("allowed", "not_run"):
        return None
    return replace(
        step,
        stage="outcome",
        tool=body.tool or "",
        call_id=body.id,
        to=body.to,
        state=body.state,
        evidence=body.evidence,
        settles=_read_settled(body.settles),
        handed_at=body.handed_over_at,
    )


def _read_decision(
    step: RecordedApproval, body: ApprovalDecided | ApprovalExpired
) -> RecordedApproval:
    """A decision, or none in time; older trails have questions that were handed over as decided."""
    if isinstance(body, ApprovalDecided) and body.handed_over_to:
        return replace(
            step,
            stage="handed_over",
            how="handed_over",
            comment=plain(body.comment),
            detail=plain(body.detail),
            to=body.handed_over_to,
            goes_on=body.allowed,
            is_older=True,
        )
    return replace(
        step,
        stage="decided" if isinstance(body, ApprovalDecided) else "expired",
        call_id=body.id or "",
        allowed=body.allowed,
        how=body.how,
        by=body.by or "",
        decision=plain(body.decision),
        comment=plain(body.comment),
        detail=plain(body.detail),
        edited=body.edited,
        settles=_read_settled(body.settles),
        handed_at=body.handed_over_at or "",
    )


def _read_settled(state: str | None) -> str:
    return state if state in ("not_known", "not_run") else ""


def _read_call(record: Record, body: ToolStarted | ToolFinished) -> RecordedCall:
    tool = body.tool or ""
    call_id = body.id or ""
    if isinstance(body, ToolStarted):
        return RecordedCall(
            **_place(record),
            stage="started",
            tool=tool,
            call_id=call_id,
            digest=body.digest,
            gated=body.gated,
        )
    return RecordedCall(
        **_place(record),
        stage="finished",
        tool=tool,
        call_id=call_id,
        digest=body.digest or "",
        outcome=body.outcome,
        success=body.success,
        ms=body.ms,
    )


def _read_hook(record: Record, body: HookRegistered) -> Item:
    registration = record["registration"]
    if type(registration) is not int:
        return _read_note(record, body)
    return RecordedHook(
        id=registration,
        name=_text(record["hook"]),
        event=_text(record["event"]),
        priority=body.priority,
        on_error=body.on_error,
        timeout=body.timeout,
        module=body.module or "",
        kind=body.kind or "",
        shadow=body.shadow,
    )


_LOOK = 2_000
"""So many records are looked at: a trail without turns may be larger than the memory."""


@dataclass(slots=True)
class Header:
    """What is known of a session before its first turn."""

    path: Path
    session: str = ""
    started: str = ""
    folder: str = ""
    bundle: str = ""
    bundle_file: str = ""
    bundle_digest: str = ""
    hooks_digest: str = ""
    """Of the hooks in it; empty in older trails."""
    level: str = "normal"
    values: str = "inline"
    shadow: bool = False
    hooks: dict[int, RecordedHook] = field(default_factory=dict)
    """By registration; those that were registered before the first turn."""


def read_header(path: Path) -> Header:
    """Read a trail up to its first turn; programs that drive hooks themselves may have none."""
    header, _ = split_header(path, read_items(read_records(open_readable(path))))
    return header


def split_header(path: Path, items: Iterable[Item]) -> tuple[Header, Iterator[Item]]:
    """The header of a trail, and all of its items, those of the header included."""
    header = Header(path)
    rest = iter(items)
    first: list[Item] = []
    for item in islice(rest, _LOOK):
        first.append(item)
        if isinstance(item, RecordedHook):
            header.hooks[item.id] = item
            continue
        if item.turn > 0 and isinstance(item, RecordedEvent | QuietEvent):
            break
        header.session = header.session or item.session
        header.started = header.started or item.time
        if isinstance(item, Note):
            _take_note(header, item.body)
    return header, chain(first, rest)


def _take_note(header: Header, body: Body) -> None:
    match body:
        case LogOpened():
            header.level = body.level or header.level
            header.values = body.values or header.values
        case BundleLoaded():
            header.folder = body.folder
            header.bundle = body.bundle
            header.bundle_file = body.file
            header.bundle_digest = body.digest
            header.hooks_digest = body.hooks_digest
        case SessionStarted():
            header.shadow = body.shadow


def find_emitted(wanted: Mapping[str, Collection[str]], trails: Iterable[Path]) -> set[str]:
    """Those of the wanted names and patterns that were emitted, as far as trails tell.

    Each is given with the hooks that hear nothing else: that one of them was called says it, too.
    """
    found: set[str] = set()
    for path in trails:
        if len(found) == len(wanted):
            break
        try:
            for item in read_history(path):
                found.update(_find(item, wanted))
        except (AuditError, OSError):
            continue  # what cannot be read tells of nothing
    return found


def _find(item: Item, wanted: Mapping[str, Collection[str]]) -> Iterator[str]:
    if isinstance(item, RecordedEvent):
        yield from (one for one in wanted if fnmatchcase(item.event, one))
    elif isinstance(item, Note) and isinstance(item.body, SessionEnded):
        called = item.body.stats.get("hooks")
        if isinstance(called, Mapping):
            yield from (one for one, hooks in wanted.items() if called.keys() & set(hooks))
