"""Reading a log: its records, as they were written or are written, and proofs that one is in it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

from amplifier_audit.checkpoint import Note, parse_note
from amplifier_audit.errors import AuditError, BadCheckpoint, NotALog
from amplifier_audit.log_directory import (
    AuditDirectory,
    LogFiles,
    open_log,
    parse_or_none,
    read_batches,
    read_first_record,
    read_head_before,
    read_lines,
)
from amplifier_audit.merkle import RangeRoots, hash_leaf, list_inclusion_ranges
from amplifier_audit.own_records import CheckpointMade
from amplifier_audit.record import Head, Record


def read_records(log: LogFiles) -> Iterator[Record]:
    """All records that can be read, in order; lines that are not records are left out."""
    for line in read_whole_lines(log):
        if (record := parse_or_none(line)) is not None:
            yield record


def read_whole_lines(
    log: LogFiles, progress: Callable[[int], None] | None = None
) -> Iterator[bytes]:
    """All lines that may be records, in order; `progress` is told how many bytes are read."""
    done = 0
    for path in log.paths:
        for lines in read_batches(path):
            yield from lines
            if progress is not None:
                done += sum(map(len, lines))
                progress(done)


def follow(
    path: str | os.PathLike[str], *, poll: float = 0.2, wait: Callable[[float], Any] = time.sleep
) -> Iterator[Record]:
    """The records that are written from this call on, over segment boundaries, for ever."""
    log = open_log(path)
    if log.directory is None:
        raise NotALog(f"{path} is one file; a log that grows is a directory")
    number = log.numbers[-1] or 0
    return _follow(log.directory, number, log.paths[-1].stat().st_size, poll, wait)


def _follow(
    directory: AuditDirectory, number: int, offset: int, poll: float, wait: Callable[[float], Any]
) -> Iterator[Record]:
    while True:
        for position, line in read_lines(directory.segment_path(number), offset):
            if not line.endswith(b"\n"):
                break
            offset = position + len(line)
            if (record := parse_or_none(line)) is not None:
                yield record
        if directory.segment_path(number + 1).exists():
            number = number + 1
            offset = 0
        else:
            wait(poll)


def prove_inclusion(log: LogFiles, sequence: int, note: Note) -> tuple[bytes, list[bytes]]:
    """The line of a record (without LF) and the hashes that lead from it to the checkpoint."""
    size = note.checkpoint.size
    if not 0 <= sequence < size:
        raise AuditError(f"The checkpoint covers records 0 to {size - 1}, not {sequence}")
    start = find_start(log)
    if sequence < start.size:
        raise AuditError(f"Record {sequence} is not there; the log begins at {start.size}")
    roots = RangeRoots(list_inclusion_ranges(sequence, size), start.size, start.frontier)
    found = _add_up(log, roots, start.size, sequence, size)
    if found is None:
        raise AuditError(f"The log ends before the {size} records of the checkpoint")
    return found, roots.compute_roots()


def find_start(log: LogFiles) -> Head:
    """What came before the first record that is there; nothing, if no segment was removed."""
    first = read_first_record(log.paths[0])
    try:
        return read_head_before(first) if first and first["seq"] else Head()
    except ValueError as error:
        raise AuditError(f"{log.paths[0]} does not say what came before it") from error


def _add_up(log: LogFiles, roots: RangeRoots, index: int, wanted: int, size: int) -> bytes | None:
    found = None
    for path in log.paths:
        for _, line in read_lines(path):
            if index == size:
                return found
            found = line[:-1] if index == wanted else found
            roots.push(hash_leaf(line[:-1]))
            index += 1
    return found if index == size else None


def find_newest_checkpoint(log: LogFiles) -> Note | None:
    """The last checkpoint that is in the log."""
    for path in reversed(log.paths):
        found = None
        for _, line in read_lines(path):
            if b'"type":"checkpoint"' in line or b'"type":"sealed"' in line:
                found = _read_note(line) or found
        if found:
            return found
    return None


def _read_note(line: bytes) -> Note | None:
    record = parse_or_none(line)
    # A body may have a member of that name and text as well, from whoever wrote it.
    if record is None or record["type"] not in ("checkpoint", "sealed"):
        return None
    try:
        return parse_note(CheckpointMade.parse(record["body"]).note)
    except BadCheckpoint:
        return None
