"""The result of a verification: the verdict, and the first place that is wrong."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from amplifier_audit.record import Head

Verdict = Literal["proven", "consistent", "recovered", "tampered"]
Kind = Literal[
    "edit",
    "malformed",
    "gap",
    "order",
    "duplicate",
    "link",
    "wrong log",
    "checkpoint",
    "signature",
    "unsigned",
    "cut below anchor",
    "fork",
    "missing segment",
    "torn tail",
    "broken",
    "missing value",
]
EXIT_CODES: dict[Verdict, int] = {"proven": 0, "consistent": 3, "recovered": 4, "tampered": 5}
"""What a command that verifies ends with; 2 is for what cannot be read at all."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The first place where a log is not what its writer wrote.

    `sequence` is the one that belongs there, whatever the line claims to be.
    """

    kind: Kind
    sequence: int
    message: str
    segment: str | None = None
    byte: int | None = None


class Mismatch(Exception):
    """The line that was just read is not what belongs there."""

    def __init__(self, kind: Kind, sequence: int, message: str) -> None:
        super().__init__(message)
        self.finding = Finding(kind, sequence, message)


@dataclass(frozen=True, slots=True)
class Report:
    """What a verification found. `proven_to` counts records: the first so many are proven.

    `signed_to` counts those that the key has signed, `unproven` those that were read and that
    neither an anchor nor a signature covers: whoever can write the files may have made them up.
    `name` says whose log it is, `failed` why its writer gave up, if it did. `signed` counts the
    signatures that the key was checked against, `unchecked` those that no key was given for.
    """

    verdict: Verdict
    log: str | None
    first: int
    size: int
    proven_to: int | None = None
    finding: Finding | None = None
    recoveries: tuple[int, ...] = ()
    checkpoints: int = 0
    signed: int = 0
    last_checkpoint: int | None = None
    notes: tuple[str, ...] = ()
    head: Head | None = None
    signed_to: int | None = None
    unproven: int = 0
    name: str | None = None
    failed: str | None = None
    unchecked: int = 0


def find_exit_code(report: Report, *, complete: bool = False) -> int:
    """What a command ends with; `complete`: a record that is not proven spoils `proven`."""
    if complete and report.verdict == "proven" and report.unproven:
        return EXIT_CODES["consistent"]
    return EXIT_CODES[report.verdict]


def report_to_dict(report: Report, *, complete: bool = False) -> dict[str, Any]:
    """Everything but the head, as JSON has it."""
    finding = report.finding
    return {
        "verdict": report.verdict,
        "exit_code": find_exit_code(report, complete=complete),
        "log": report.log,
        "first": report.first,
        "size": report.size,
        "name": report.name,
        "proven_to": report.proven_to,
        "signed_to": report.signed_to,
        "unproven": report.unproven,
        "finding": finding
        and {
            "kind": finding.kind,
            "sequence": finding.sequence,
            "segment": finding.segment,
            "byte": finding.byte,
            "message": finding.message,
        },
        "recoveries": report.recoveries,
        "checkpoints": report.checkpoints,
        "signatures_checked": report.signed,
        "signatures_not_checked": report.unchecked,
        "last_checkpoint": report.last_checkpoint,
        "failed": report.failed,
        "notes": report.notes,
    }


def describe_report(report: Report) -> Iterator[str]:
    """Line by line: the verdict, what is wrong, what was read."""
    yield _describe_verdict(report)
    if finding := report.finding:
        place = f" ({finding.segment}, byte {finding.byte})" if finding.segment else ""
        message = escape_text(finding.message)
        yield f"  {finding.kind} at record {finding.sequence}{place}: {message}"
    owner = f" of {report.name}" if report.name else ""
    yield f"  log {escape_text(report.log or 'unknown')}{owner}, {_describe_range(report)} read"
    newest = report.last_checkpoint
    last = "" if newest is None else f", last checkpoint at {newest}"
    yield f"  {report.checkpoints} checkpoints, {report.signed} signatures checked{last}"
    if report.unchecked:
        signed = f"{report.unchecked} checkpoint{'s are' if report.unchecked > 1 else ' is'} signed"
        yield f"  {signed}, which was not checked: --key FILE names the public key"
    if report.recoveries:
        yield f"  recoveries after a crash at records {', '.join(map(str, report.recoveries))}"
    if report.failed is not None:
        yield f"  the writer gave up: {escape_text(report.failed)}; later events are not recorded"
    for note in report.notes:
        yield f"  note: {escape_text(note)}"


def escape_text(value: Any) -> str:
    """Printable ASCII whatever a hook or a model wrote: nothing in a log steers the terminal."""
    text = json.dumps(value)
    escaped = text[1:-1].replace('\\"', '"') if isinstance(value, str) else text
    return escaped.replace("\x7f", "\\u007f")


def _describe_range(report: Report) -> str:
    first = report.first
    size = report.size
    return f"records {first} to {size - 1}" if size > first else f"no records from {first} on"


def _describe_verdict(report: Report) -> str:
    if report.verdict == "tampered":
        return "TAMPERED: this is not what the writer wrote"
    known = "; ".join(_list_proofs(report))
    if report.verdict == "proven":
        whose = "" if report.name else ", NOT WHOSE LOG IT IS"
        return f"PROVEN{whose}: {known}"
    if report.verdict == "recovered":
        known = known or "nothing is proven"
        return f"RECOVERED: there are traces of a crash, or somebody faked them; {known}"
    if report.finding is not None and report.finding.kind == "missing value":
        known = known or "the records agree with one another"
        return f"INCOMPLETE: values are missing or replaced without a record of it; {known}"
    if report.finding is not None:
        why = report.finding.kind
        return f"CONSISTENT, NOT PROVEN: the records agree with one another, but {why}"
    if report.proven_to is not None:
        return f"CONSISTENT, NOT PROVEN: {known}, but not by all that should; see the notes"
    return (
        "CONSISTENT, END NOT PROVEN: the records agree with one another; without an anchor, "
        "nothing shows whether some are missing at the end or all of them were replaced"
        + (f"; {known}" if known else "")
    )


def _list_proofs(report: Report) -> list[str]:
    """What anchors and signatures cover, and how much they do not."""
    first = report.first
    proven = report.proven_to
    signed = report.signed_to
    parts = []
    if proven is not None:
        which = f"records {first} to {proven - 1}" if first else f"the first {proven} records"
        parts.append(f"{which} are proven by an anchor")
    if signed is not None and signed > (proven or 0):
        parts.append(f"the first {signed} are signed")
    if parts and report.unproven:
        parts.append(f"the last {report.unproven} are NOT PROVEN")
    return parts
