"""The verification of one segment on its own, and how it is joined to those before.

The first record of a segment says what it goes on from. So a segment can be verified before those
in front of it are, and what was found holds once they have ended exactly there. Everything else is
left to the verifier that reads one segment after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from amplifier_audit.errors import AuditError
from amplifier_audit.files.lines import read_first_record, read_head_before
from amplifier_audit.format.chain import Head
from amplifier_audit.format.checkpoint import Note, SignatureVerifier
from amplifier_audit.format.own_records import LogOpened
from amplifier_audit.reader.bulk.segment_feed import SegmentFeed
from amplifier_audit.reader.bulk.shapes import Shapes
from amplifier_audit.reader.line_verifier import LineVerifier
from amplifier_audit.reader.report import Mismatch
from amplifier_audit.reader.unsigned import Unsigned


@dataclass(frozen=True, slots=True)
class SegmentTask:
    """A segment, from byte `offset`, and all that a verifier knows when it comes to it.

    `until` is where the next segment says that it begins; anchors beyond are not among `anchors`.
    """

    path: Path
    start: Head
    log: str | None
    offset: int = 0
    anchors: Sequence[Note] = ()
    key: SignatureVerifier | None = None
    unsigned: Unsigned = field(default_factory=Unsigned)
    acknowledged: Head | None = None
    until: int | None = None


@dataclass(frozen=True, slots=True)
class VerifiedSegment:
    """A segment in which all is right: the verifier that has read it, up to byte `end`."""

    task: SegmentTask
    verifier: LineVerifier
    end: int

    def join(self, verifier: LineVerifier) -> bool:
        """Move a verifier on behind the segment; False if it is not where the segment began."""
        task = self.task
        here = (verifier.log, verifier.head) == (task.log, task.start)
        counted = verifier.key is None or verifier.unsigned == task.unsigned
        within = task.until is None or self.verifier.size <= task.until
        if not (here and counted and within):
            return False
        verifier.join(self.verifier)
        return True


def list_tasks(
    verifier: LineVerifier, paths: Sequence[Path], offset: int, acknowledged: Head | None
) -> list[SegmentTask | None]:
    """For each segment, None where it does not say what it goes on from.

    The verifier is as it is before the first one, of which `offset` bytes are behind it.
    """
    tasks: list[SegmentTask | None] = [
        SegmentTask(
            paths[0],
            verifier.head,
            verifier.log,
            offset,
            # All of them: whether they are of this log, its first record tells.
            tuple(verifier.anchors),
            verifier.key,
            replace(verifier.unsigned),
            acknowledged,
        )
    ]
    tasks += [_make_task(path, verifier.key, acknowledged) for path in paths[1:]]
    following = [*tasks[1:], None]
    return [
        _add_anchors(task, after, verifier.anchors) if task and number else task
        for number, (task, after) in enumerate(zip(tasks, following, strict=True))
    ]


def run_task(
    task: SegmentTask, shapes: Shapes, progress: Callable[[int], None] | None = None
) -> VerifiedSegment | None:
    """Verify a segment; None if there is anything to say about it."""
    try:
        verifier = LineVerifier(task.anchors, task.key, task.log, task.start)
        verifier.unsigned = replace(task.unsigned)
        feed = SegmentFeed(verifier, task.path, task.offset, shapes, task.acknowledged, progress)
        feed.run()
        whole = task.path.stat().st_size >= task.offset
    except (Mismatch, AuditError, OSError):
        return None
    return VerifiedSegment(task, verifier, feed.end) if whole else None


def _make_task(
    path: Path, key: SignatureVerifier | None, acknowledged: Head | None
) -> SegmentTask | None:
    try:
        first = read_first_record(path)
        start = read_head_before(first) if first else None
    except (AuditError, ValueError):
        return None
    if first is None or start is None:
        return None
    # A segment ends with a signature, and the record that holds it is one since then.
    unsigned = Unsigned(own=1)
    unsigned.promise(LogOpened.parse(first["body"]).checkpoint_every, first=True)
    return SegmentTask(
        path, start, first["log"], key=key, unsigned=unsigned, acknowledged=acknowledged
    )


def _add_anchors(
    task: SegmentTask, after: SegmentTask | None, anchors: Iterable[Note]
) -> SegmentTask:
    """Those that speak of this segment, its end included."""
    until = after.start.size if after else None
    own = [
        note
        for note in anchors
        if note.checkpoint.size > task.start.size
        and (until is None or note.checkpoint.size <= until)
    ]
    return replace(task, anchors=tuple(own), until=until)
