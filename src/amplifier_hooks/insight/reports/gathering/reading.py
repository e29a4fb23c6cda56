"""Reads trails, one after another, into the figures of one report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from amplifier_audit import AuditError
from amplifier_audit.log_directory import open_remains
from amplifier_hooks.agent.session.inspection.evidence import Evidence, EvidenceFinder
from amplifier_hooks.agent.session.inspection.trails import list_names_beside, list_roots
from amplifier_hooks.agent.session.saved_sessions import SessionStore
from amplifier_hooks.insight.reports.figures.period import Period
from amplifier_hooks.insight.reports.figures.proof import check_trail
from amplifier_hooks.insight.reports.figures.report import ReportFigures
from amplifier_hooks.insight.reports.figures.session import SessionFigures
from amplifier_hooks.insight.reports.gathering.trail import gather_items
from amplifier_hooks.trails import (
    Item,
    RecordedApproval,
    RecordedHook,
    read_header,
    read_history,
)

CHAPTERS = 20


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a report is to be about."""

    trails: Sequence[Path]
    period: Period = field(default_factory=Period)
    evidence: Evidence | None = None
    """What a person gives to verify them with; None for what their bundles name."""
    chapters: int = CHAPTERS
    finder: EvidenceFinder = field(default_factory=EvidenceFinder)


Progress = Callable[[int], None]


def read_report(
    wanted: Wanted, *, made: str | None = None, progress: Progress | None = None
) -> ReportFigures:
    """Read and verify all trails; `progress` is told how many bytes are done."""
    when = made or datetime.now(UTC).isoformat(timespec="seconds")
    report = ReportFigures(
        when,
        wanted.period,
        chapter_limit=wanted.chapters,
        names_beside=frozenset(list_names_beside(wanted.trails)),
    )
    roots = [root.resolve() for root in list_roots(untrusted=True)]
    names = {one.id: one.name or "" for one in SessionStore().list()}
    done = 0
    for path in wanted.trails:
        session = _try_to_read(report, path, wanted, roots, _shift(progress, done))
        if session is not None:
            session.name = names.get(session.id, "")
            report.take(session)
        done += measure_trail(path)
    return report


def _shift(progress: Progress | None, done: int) -> Progress | None:
    return None if progress is None else lambda more: progress(done + more)


def measure_trail(path: Path) -> int:
    """The bytes of a trail; none if it cannot be read."""
    try:
        return open_remains(path).size
    except (AuditError, OSError):
        return 0


def _try_to_read(
    report: ReportFigures,
    path: Path,
    wanted: Wanted,
    roots: list[Path],
    progress: Progress | None,
) -> SessionFigures | None:
    """The session of a trail; the report notes a trail that has nothing for it."""
    try:
        if not _is_older(path, wanted.period):
            session = read_session(path, wanted, find_owner(path, roots), progress)
            if session.records or not wanted.period:
                return session
        report.empty += 1
    except (AuditError, OSError) as error:
        report.unreadable.append((str(path), str(error)))
    return None


def _is_older(path: Path, period: Period) -> bool:
    """Whether nothing was written to a trail since the period began."""
    state = path / "state"
    if not period.since or not state.exists():
        return False
    # A second more, because clocks of files are coarse.
    written = datetime.fromtimestamp(state.stat().st_mtime + 1, UTC)
    return written.isoformat() < period.since


def read_session(
    path: Path, wanted: Wanted, owner: str | None = None, progress: Progress | None = None
) -> SessionFigures:
    """Read one trail, and verify it."""
    evidence = wanted.evidence if wanted.evidence is not None else wanted.finder.find(path)
    proof = check_trail(path, evidence, owner=owner, progress=progress)
    session = SessionFigures(read_header(path), proof)
    items = keep_verified(read_history(path), session)
    gather_items(session, items, wanted.period)
    return session


def keep_verified(items: Iterable[Item], session: SessionFigures) -> Iterator[Item]:
    """The records that the verification read, each once; what was added since is left out.

    Of a trail that was tampered with everything is told: its readers are warned.
    """
    report = session.proof.report
    end = None if report is None or report.verdict == "tampered" else report.size
    last = -1
    for item in items:
        if isinstance(item, RecordedHook) or end is None:
            yield item
        elif isinstance(item, RecordedApproval) and item.derived:  # the other is counted by itself
            if item.sequence < end:
                yield item
        elif last < item.sequence < end:
            last = item.sequence
            yield item
        else:
            session.gaps.unverified += 1


def find_owner(path: Path, roots: list[Path]) -> str | None:
    """Whose trail a folder must hold, if it is one of those that sessions write to."""
    resolved = path.resolve()
    return resolved.name if resolved.parent in roots else None
