"""What the trail of a session proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from amplifier_audit import AuditError, Report
from amplifier_audit.log_directory import open_remains
from amplifier_hooks.agent.session.inspection.evidence import Check, Evidence


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a verification, or why there is none."""

    report: Report | None = None
    problem: str = ""
    path: str = ""
    evidence: Evidence = field(default_factory=Evidence)

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
        report = Check(open_remains(path), evidence, owner, progress=progress).run()
    except (AuditError, OSError) as error:
        problem = str(error)
    return Proof(report, problem, str(path), evidence)
