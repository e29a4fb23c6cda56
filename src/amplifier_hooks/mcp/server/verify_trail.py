"""verify_trail: whether a trail is as its writer wrote it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from amplifier_audit.errors import AuditError
from amplifier_audit.log_directory import open_remains
from amplifier_audit.report import Finding, Report, describe_report
from amplifier_audit.verification import LogVerification
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result
from amplifier_hooks.mcp.server.trails import Deadline, DeadlineExceeded, OpenTrail, Trails

SECONDS = 30.0
MOST_BYTES = 256 << 20
_MEANINGS = {
    "proven": "The trail is proven to its anchor.",
    "consistent": "The trail is consistent; nothing kept elsewhere proves its end.",
    "recovered": "The trail was recovered after a crash, and is consistent.",
    "tampered": "The trail is not what its writer wrote.",
}


class VerifyArguments(Arguments):
    """Which trail."""

    session: str = Field(max_length=128, description="The session; its id or a beginning.")


class Wrong(BaseModel):
    """The first place that is wrong."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: str
    sequence: int
    message: str


class VerifyResult(Result):
    """What the trail proves."""

    session: str
    verdict: Literal["proven", "consistent", "recovered", "tampered"]
    records: int
    signed_to: int | None
    unproven: int
    finding: Wrong | None
    details: list[str]


@dataclass(frozen=True, slots=True)
class TrailVerification:
    """Verifies trails of a scope."""

    trails: Trails
    seconds: float = SECONDS
    most_bytes: int = MOST_BYTES

    async def run(self, arguments: VerifyArguments) -> VerifyResult:
        """Check every record; Refused for a trail that takes too long."""
        return await asyncio.to_thread(self._verify, arguments)

    def _verify(self, arguments: VerifyArguments) -> VerifyResult:
        trail = self.trails.find(arguments.session)
        try:
            return _describe(trail, self._read(trail))
        except (AuditError, OSError) as error:
            raise Refused(f"The trail of {trail.id} cannot be verified: {error}") from error
        except DeadlineExceeded as error:
            raise Refused(
                f"The trail of {trail.id} takes longer than {self.seconds:g} seconds; a person can "
                f"verify it with: amplifier audit verify {trail.id}"
            ) from error

    def _read(self, trail: OpenTrail) -> Report:
        files, deadline = open_remains(trail.path), Deadline(self.seconds)
        if files.size > self.most_bytes:
            raise DeadlineExceeded
        run = LogVerification(files, name=trail.path.resolve().name)

        def stop_in_time(_: int) -> None:
            if deadline.expired:
                raise DeadlineExceeded

        run.progress = stop_in_time
        return run.run()


def _describe(trail: OpenTrail, report: Report) -> VerifyResult:
    finding = report.finding
    return VerifyResult(
        summary=_MEANINGS[report.verdict],
        session=trail.id,
        verdict=report.verdict,
        records=report.size,
        signed_to=report.signed_to,
        unproven=report.unproven,
        finding=None if finding is None else _name_wrong(finding),
        details=[line.strip()[:1000] for line in describe_report(report)][:50],
    )


def _name_wrong(finding: Finding) -> Wrong:
    message = finding.message[:1000]
    return Wrong(kind=finding.kind, sequence=finding.sequence, message=message)
