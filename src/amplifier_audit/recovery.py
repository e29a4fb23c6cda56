"""Opening a log: its state on disk, and the repairs that a writer may make.

Damage after the acknowledged position is what a crash leaves: it goes to quarantine, and the log
says so. Damage at or before that position is no crash: nothing is repaired, a new segment begins
with the record `broken`, and an alarm tells whoever runs the writer.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from amplifier_audit.checkpoint import Signer
from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.log_directory import (
    AuditDirectory,
    is_torn,
    parse_or_none,
    read_first_record,
    read_head_before,
    read_last_record_before,
    read_lines,
    sync_directory,
    write_file,
)
from amplifier_audit.own_records import LogBroken, LogOpened, LogRecovered
from amplifier_audit.record import Head, Record, is_log_name, make_log_id, name_log
from amplifier_audit.report import Mismatch
from amplifier_audit.state import State, read_state


@dataclass(frozen=True, slots=True)
class Opening:
    """Where to go on, and which records come first."""

    log: str
    head: Head
    segment: int
    offset: int
    records: tuple[LogRecovered | LogBroken, ...] = ()

    @property
    def alarm(self) -> str | None:
        """Why somebody should look, if somebody should."""
        return next((one.why for one in self.records if isinstance(one, LogBroken)), None)


@dataclass(slots=True)
class _Scan:
    """The end of what verifies."""

    log: str | None
    head: Head
    segment: int
    offset: int
    sealed: bool = False
    damage: str | None = None
    complete: bool = True


def recover(directory: AuditDirectory) -> Opening:
    """Bring the log into a state that can be appended to."""
    segments = directory.list_segments()
    state = read_state(directory.state)
    if not segments:
        return _begin_or_report(state)
    if state is None:
        return _recover_without_state(directory, segments)
    if why := _find_contradiction(directory, state):
        return _report_broken(state, segments[-1] + 1, why, None)
    if directory.failed.exists():
        return _recover_after_failure(directory, state, segments[-1])
    scan = _scan_from_state(directory, state, segments)
    if scan.damage and scan.segment != segments[-1]:
        return _report_broken(state, segments[-1] + 1, scan.damage, scan)
    return _continue_after(directory, scan, {})


def _begin_or_report(state: State | None) -> Opening:
    if state is None:
        return Opening(make_log_id(), Head(), 0, 0)
    return _report_broken(state, state.segment + 1, "all segments are gone", None)


def _recover_without_state(directory: AuditDirectory, segments: list[int]) -> Opening:
    """Nobody knows what was acknowledged; only a torn last line is taken for a crash."""
    first = segments[0]
    start = _find_start(directory, first)
    scan = _scan_segments(directory, LineVerifier(start=start), segments, first, 0)
    if scan.damage and (scan.complete or scan.segment != segments[-1]):
        found = State(scan.log or make_log_id(), scan.segment, scan.offset, scan.head)
        return _report_broken(found, segments[-1] + 1, scan.damage, scan)
    if scan.head.size == 0:
        _quarantine(directory, scan)
        facts = _describe_quarantined(directory, 0)
        records = (LogRecovered(facts=facts),) if facts else ()
        return Opening(make_log_id(), Head(), scan.segment, 0, records=records)
    return _continue_after(directory, scan, {"state": "missing"})


def _find_start(directory: AuditDirectory, first: int) -> Head:
    """Where the first segment that is there says it goes on from; what is wrong with it, shows."""
    record = read_first_record(directory.segment_path(first)) if first else None
    try:
        return Head() if record is None else read_head_before(record)
    except ValueError:
        return Head()


def _find_contradiction(directory: AuditDirectory, state: State) -> str | None:
    """Why the file cannot be the one whose end was acknowledged, or None."""
    path = directory.segment_path(state.segment)
    if not path.exists():
        return f"segment {path.name} is gone"
    size = path.stat().st_size
    if size < state.offset:
        return f"{path.name} has {size} bytes, {state.offset} were acknowledged"
    last = read_last_record_before(path, state.offset)
    if last is None or last["hash"] != state.head.hash or last["log"] != state.log:
        return f"the record before byte {state.offset} of {path.name} is not the acknowledged one"
    return None


def _scan_from_state(directory: AuditDirectory, state: State, segments: list[int]) -> _Scan:
    verifier = LineVerifier(start=state.head, log=state.log)
    later = [number for number in segments if number >= state.segment]
    scan = _scan_segments(directory, verifier, later, state.segment, state.offset)
    if scan.head.size == state.head.size:
        last = read_last_record_before(directory.segment_path(state.segment), state.offset)
        scan.sealed = last is not None and last["type"] == "sealed"
    return scan


def _scan_segments(
    directory: AuditDirectory, verifier: LineVerifier, segments: list[int], first: int, offset: int
) -> _Scan:
    scan = _Scan(verifier.log, verifier.head, first, offset)
    for number in segments:
        start = offset if number == first else 0
        scan.segment = number
        scan.offset = start
        for position, line in read_lines(directory.segment_path(number), start):
            try:
                record = verifier.feed(line)
            except Mismatch as mismatch:
                scan.damage = f"record {mismatch.finding.sequence}: {mismatch}"
                scan.complete = not is_torn(line)
                return scan
            scan.sealed = record["type"] == "sealed"
            scan.offset = position + len(line)
            scan.log = verifier.log
            scan.head = verifier.head
    return scan


def _continue_after(directory: AuditDirectory, scan: _Scan, facts: dict[str, Any]) -> Opening:
    _quarantine(directory, scan)
    facts = {**facts, **_describe_quarantined(directory, scan.head.size)}
    records = (LogRecovered(facts=facts),) if facts else ()
    opening = Opening(scan.log or "", scan.head, scan.segment, scan.offset, records)
    if scan.sealed and scan.offset:
        return replace(opening, segment=scan.segment + 1, offset=0)
    return opening


def _recover_after_failure(directory: AuditDirectory, state: State, last: int) -> Opening:
    """After a failed sync the cache may show what the disk does not have: it is set aside."""
    for number in range(state.segment, last + 1):
        offset = state.offset if number == state.segment else 0
        scan = _Scan(state.log, state.head, number, offset, damage="a sync failed")
        if directory.segment_path(number).exists():
            _quarantine(directory, scan)
    why = {"why": "a sync failed", "reason": directory.read_failure()}
    facts = {**why, **_describe_quarantined(directory, state.head.size)}
    for number in range(state.segment + 1, last + 1):
        directory.segment_path(number).unlink(missing_ok=True)
    return Opening(
        state.log, state.head, state.segment + 1, 0, records=(LogRecovered(facts=facts),)
    )


def _report_broken(state: State, segment: int, why: str, scan: _Scan | None) -> Opening:
    expected = {
        "size": state.head.size,
        "hash": state.head.hash,
        "segment": state.segment,
        "byte": state.offset,
    }
    found = None
    if scan is not None:
        found = {
            "size": scan.head.size,
            "hash": scan.head.hash,
            "segment": scan.segment,
            "byte": scan.offset,
        }
    broken = LogBroken(why=why, expected=expected, found=found)
    return Opening(state.log, state.head, segment, 0, records=(broken,))


def _quarantine(directory: AuditDirectory, scan: _Scan) -> None:
    """Move the bytes after the good end to a file of their own, then cut them off."""
    path = directory.segment_path(scan.segment)
    extra = path.stat().st_size - scan.offset
    if extra <= 0:
        return
    # Copied and synced, with all names, before it is cut off: whenever this dies, the bytes are
    # somewhere.
    target = _find_free_name(directory.quarantine / f"{scan.segment:08d}-{scan.head.size}")
    with path.open("rb") as file:
        file.seek(scan.offset)
        write_file(target, file.read())
    sync_directory(directory.path)
    descriptor = os.open(path, os.O_WRONLY)
    try:
        os.ftruncate(descriptor, scan.offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _find_free_name(stem: Path) -> Path:
    number = 0
    while (path := stem.with_name(f"{stem.name}-{number}.bin")).exists():
        number += 1
    return path


def _describe_quarantined(directory: AuditDirectory, size: int) -> dict[str, Any]:
    """Quarantined bytes that no record speaks of yet, also of a recovery that was itself killed."""
    files = sorted(directory.quarantine.glob("*.bin")) if directory.quarantine.is_dir() else []
    fresh = [path for path in files if int(path.name.split("-")[1]) >= size]
    if not fresh:
        return {}
    return {
        "quarantined": [
            {
                "file": path.name,
                "bytes": path.stat().st_size,
                "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            }
            for path in fresh
        ]
    }


# So many lines are looked at for the session of a log that was written before logs had names.
LOOK = 100


def refuse_foreign_log(directory: AuditDirectory, signer: Signer | None, name: str | None) -> None:
    """Refuse to go on with a log that is signed with another key or belongs to somebody else."""
    segments = directory.list_segments()
    if not segments:
        return
    path = directory.segment_path(segments[0])
    first = read_first_record(path)
    if first is None or first["type"] != "log_opened":
        return
    _refuse_another_key(directory, first, signer)
    _refuse_another_name(directory, _find_name(path, first), name)


def choose_name(directory: AuditDirectory) -> str | None:
    """The name of a log that was given none: its folder's, or what a log that is there has."""
    segments = directory.list_segments()
    first = read_first_record(directory.segment_path(segments[0])) if segments else None
    if first is None:
        return name_log(directory.path.resolve().name)
    name = LogOpened.parse(first["body"]).name if first["type"] == LogOpened.type else None
    return name if is_log_name(name) else None


def _refuse_another_key(directory: AuditDirectory, first: Record, signer: Signer | None) -> None:
    known = LogOpened.parse(first["body"]).key
    given = signer and signer.public
    if known != given:
        raise AuditUnavailable(
            f"The log {directory.path} is signed with {known or 'no key'}, "
            f"not with {given or 'no key'}; another key needs another directory"
        )


def _refuse_another_name(directory: AuditDirectory, known: str | None, name: str | None) -> None:
    if name is not None and known is not None and known != name:
        raise AuditUnavailable(
            f"The log {directory.path} is the trail of {known!r}, not of {name!r}: "
            "somebody put it there; move it away and look into it"
        )


def _find_name(path: Path, first: Record) -> str | None:
    """The name; of a log that was begun without one, what its first session would have had."""
    name = LogOpened.parse(first["body"]).name
    if is_log_name(name):
        return name
    # In a later segment the first record may be one of a sub-agent.
    lines = islice(read_lines(path), LOOK) if first["seq"] == 0 else ()
    records = (parse_or_none(line) for _, line in lines)
    sessions = (record["session"] for record in records if record)
    return next((name_log(session) for session in sessions if isinstance(session, str)), None)
