"""Names what is wrong with a line that does not belong where it stands."""

from __future__ import annotations

from amplifier_audit.format.chain import Head
from amplifier_audit.format.limits import RECORD_LIMIT
from amplifier_audit.format.record import Record, read_claimed_hash
from amplifier_audit.reader.report import Kind


def describe_misplacement(record: Record, log: str | None, head: Head) -> tuple[Kind, str]:
    """A whole record, but not the next one after `head` of this log."""
    found, expected = record["seq"], head.size
    if log is not None and record["log"] != log:
        return "wrong log", f"a record of log {record['log'][:64]!r}"
    if found == expected:
        return "link", f"does not follow record {expected - 1}: one of the two was replaced"
    if found == expected - 1 and record["hash"] == head.hash:
        return "duplicate", f"record {found} a second time"
    if found < expected:
        return "order", f"record {found} where {expected} belongs"
    return "gap", f"record {expected} is missing, the next one is {found}"


def describe_damage(line: bytes) -> str:
    """A line whose own hash is wrong."""
    if len(line) > RECORD_LIMIT:
        return f"a line of more than {RECORD_LIMIT} bytes"
    whole = read_claimed_hash(line) is not None
    return "the line is not what its hash says" if whole else "the line is not a record"
