"""What a verification found: the verdict, and the first place that is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from amplifier_audit.format.chain import Head

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
