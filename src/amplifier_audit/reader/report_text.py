"""A report in words and as JSON, the same for every command that verifies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from amplifier_audit.reader.report import EXIT_CODES, Report


def report_to_dict(report: Report) -> dict[str, Any]:
    """Everything but the head, as JSON has it."""
    finding = report.finding
    return {
        "verdict": report.verdict,
        "exit_code": EXIT_CODES[report.verdict],
        "log": report.log,
        "first": report.first,
        "size": report.size,
        "proven_to": report.proven_to,
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
        "last_checkpoint": report.last_checkpoint,
        "notes": report.notes,
    }


def describe_report(report: Report) -> Iterator[str]:
    """Line by line: the verdict, what is wrong, what was read."""
    yield _describe_verdict(report)
    if finding := report.finding:
        place = f" ({finding.segment}, byte {finding.byte})" if finding.segment else ""
        message = escape_text(finding.message)
        yield f"  {finding.kind} at record {finding.sequence}{place}: {message}"
    yield f"  log {escape_text(report.log or 'unknown')}, {_describe_range(report)} read"
    newest = report.last_checkpoint
    last = "" if newest is None else f", last checkpoint at {newest}"
    yield f"  {report.checkpoints} checkpoints, {report.signed} signatures checked{last}"
    if report.recoveries:
        yield f"  recoveries after a crash at records {', '.join(map(str, report.recoveries))}"
    for note in report.notes:
        yield f"  note: {escape_text(note)}"


def escape_text(value: Any) -> str:
    """Printable ASCII whatever a hook or a model wrote: nothing in a log steers the terminal."""
    text = json.dumps(value)
    escaped = text[1:-1].replace('\\"', '"') if isinstance(value, str) else text
    return escaped.replace("\x7f", "\\u007f")


def _describe_range(report: Report) -> str:
    first, size = report.first, report.size
    return f"records {first} to {size - 1}" if size > first else f"no records from {first} on"


def _describe_verdict(report: Report) -> str:
    proven, rest = report.proven_to, report.size - (report.proven_to or 0)
    tail = f"; the {rest} after it are consistent, their end is not proven" if rest else ""
    known = f"the first {proven} records are proven by an anchor{tail}"
    return {
        "proven": f"PROVEN: {known}",
        "consistent": "CONSISTENT, END NOT PROVEN: what is there hangs together; without an anchor "
        "nobody knows whether something is missing at the end or all of it was replaced",
        "recovered": "RECOVERED: a crash left its mark"
        + (f"; {known}" if proven else "; the end is not proven"),
        "tampered": "TAMPERED: this is not what the writer wrote",
    }[report.verdict]
