"""Proofs that a record is in the log that a checkpoint speaks of."""

from __future__ import annotations

from amplifier_audit.errors import AuditError, BadCheckpoint
from amplifier_audit.files.lines import (
    parse_or_none,
    read_first_record,
    read_head_before,
    read_lines,
)
from amplifier_audit.files.log_files import LogFiles
from amplifier_audit.format.chain import Head
from amplifier_audit.format.checkpoint import Note, parse_note
from amplifier_audit.format.own_records import CheckpointMade
from amplifier_audit.format.proof import RangeRoots, list_inclusion_ranges
from amplifier_audit.format.tree import hash_leaf


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
