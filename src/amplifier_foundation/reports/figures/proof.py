"""What the trail of a session proves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_audit import AuditError, Note, Report
from amplifier_audit.files.log_files import open_remains
from amplifier_audit.format.checkpoint import SignatureVerifier
from amplifier_audit.reader.anchor_files import read_anchors
from amplifier_audit.reader.verification import LogVerification


@dataclass(frozen=True, slots=True)
class Evidence:
    """What an auditor has beside the trail: files of checkpoints, and the public key."""

    anchors: tuple[str, ...] = ()
    key: SignatureVerifier | None = None
    key_text: str = ""
    """The key as it was given, for the command that checks all this again."""


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a verification, or why there is none."""

    report: Report | None = None
    problem: str = ""
    path: str = ""
    anchors: tuple[str, ...] = ()
    key: str = ""

    @property
    def verdict(self) -> str:
        """`proven`, `consistent`, `recovered`, `tampered`, or `unreadable`."""
        return self.report.verdict if self.report else "unreadable"


def check_trail(
    path: Path,
    evidence: Evidence,
    *,
    owner: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Proof:
    """Verify a trail with what there is; `owner` is the session that it must be of."""
    report, problem = None, ""
    try:
        files = open_remains(path)
        anchors: Sequence[Note] = read_anchors(evidence.anchors, files, owner)
        report = LogVerification(files, anchors, evidence.key, progress=progress, name=owner).run()
    except (AuditError, OSError) as error:
        problem = str(error)
    return Proof(report, problem, str(path), evidence.anchors, evidence.key_text)
