"""Verifies a log as a whole: a directory with its state and seals, or a single segment."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from amplifier_audit.anchor_files import split_anchors
from amplifier_audit.checkpoint import Note, SignatureVerifier, parse_note
from amplifier_audit.errors import AuditError, BadCheckpoint, NotALog
from amplifier_audit.line_verifier import ANCHORED, Claims, LineVerifier
from amplifier_audit.log_directory import (
    LogFiles,
    is_torn,
    open_remains,
    parse_or_none,
    read_first_record,
    read_head_before,
    read_lines,
)
from amplifier_audit.parallel import Contradiction, SegmentFeed, VerifiedSegment, list_tasks
from amplifier_audit.quick_lines import Shapes
from amplifier_audit.record import Head, Record, name_log
from amplifier_audit.regular import read_regular
from amplifier_audit.report import Finding, Mismatch, Report
from amplifier_audit.state import State


@dataclass(frozen=True, slots=True)
class Identity:
    """What is expected: `told` by whoever verifies, or `folder`, the name of the log's folder."""

    told: str | None = None
    folder: str | None = None

    @property
    def names(self) -> frozenset[str]:
        """All names under which the log may be known."""
        return frozenset(filter(None, (self.told, self.folder)))

    def find_stranger(self, claims: Claims, position: int | None) -> Finding | None:
        """The log has the name of somebody else than was told: this is tampering."""
        found = claims.find_name(position)
        if self.told is None or found in (None, self.told):
            return None
        return Finding("wrong log", 0, f"this is the trail of {found!r}, not of {self.told!r}")

    def find_doubt(self, claims: Claims, position: int | None) -> Finding | None:
        """Whose log it is cannot be proven: a copy may have another name, a swapped one too."""
        found = claims.find_name(position)
        if found is None:
            return self._find_nameless(claims.find_session(position))
        if self.told is not None or self.folder in (None, found):
            return None
        message = (
            f"this is the trail of {found!r} in a folder called {self.folder!r}; "
            f"if that is what you want to verify, say so with --session {found}"
        )
        return Finding("wrong log", 0, message)

    def find_double(self, claims: Claims, position: int | None, others: bool) -> Finding | None:
        """Of several logs without a name, that the same anchors know, any could be put here."""
        session = claims.find_session(position)
        is_known = session is not None and name_log(session) in self.names
        if not others or is_known or claims.find_name(position) is not None:
            return None
        message = (
            "the log has no name, and the anchors know other logs without one: nothing shows that "
            "it is this one that belongs here"
        )
        return Finding("wrong log", 0, message)

    def _find_nameless(self, session: str | None) -> Finding | None:
        """Logs that were written before they had names are known by their first session."""
        if self.told is None or (session is not None and name_log(session) == self.told):
            return None
        message = f"nothing that is proven says that this is the trail of {self.told!r}"
        return Finding("wrong log", 0, message)


def find_unrecorded_removal(verifier: LineVerifier, missing: int) -> Finding | None:
    """The first so many segments are gone, and no record says that they were to be removed."""
    claims = verifier.claims
    position = verifier.position
    signed = verifier.key is not None and claims.signs_removals(position)
    if missing <= claims.find_removed_to(position if signed else None) + 1:
        return None
    message = f"no record says that segment {missing - 1:08d} was to be removed"
    return Finding("missing segment", 0, f"no signed{message[2:]}" if signed else message)


def find_unproven_removal(verifier: LineVerifier, missing: int) -> Finding | None:
    """Only records behind the proven position say so; anybody may have appended them."""
    if missing <= verifier.claims.find_removed_to(verifier.position) + 1:
        return None
    message = f"no proven record says that segment {missing - 1:08d} was to be removed"
    return Finding("missing segment", 0, message)


def find_earlier_log(anchors: Collection[Note]) -> Finding | None:
    """These anchors know a log of the same name that is not here."""
    if not anchors:
        return None
    last = max((note.checkpoint for note in anchors), key=lambda one: one.size)
    message = (
        f"the anchors know another log of {last.name!r}, {last.log[:64]!r} with {last.size} "
        "records, which is not here"
    )
    return Finding("missing segment", 0, message)


_LONGEST_NOTE = 1024 * 1024
Progress = Callable[[int], None]
# A crash leaves half a line or none; it does not make up a signature or another history.
_NO_CRASH = frozenset({"signature", "unsigned", "fork", "checkpoint"})


@dataclass(slots=True)
class LogVerification:
    """One run over a log; `name` says whose it must be, `jobs` how many segments go at a time.

    `shapes` are what lines look like that were right: who verifies many logs gives them the same.
    """

    log: LogFiles
    anchors: Sequence[Note] = ()
    key: SignatureVerifier | None = None
    since: State | None = None
    progress: Progress | None = None
    name: str | None = None
    jobs: int = 1
    shapes: Shapes = field(default_factory=Shapes)
    end: State | None = None
    _missing: int = 0
    _done: int = 0
    _earlier: Sequence[Note] = ()
    _nameless: Sequence[Note] = ()

    def run(self) -> Report:
        """Read everything and judge."""
        names = self._identity.names
        if not any(note.checkpoint.name in names for note in self.anchors):
            self.log.refuse_if_not_a_log()
        split = split_anchors(self.anchors, self.log, names)
        self.anchors, self._earlier, self._nameless = split
        return replace(self._run(), failed=self._failure)

    @property
    def _identity(self) -> Identity:
        folder = self.log.name
        return Identity(self.name, None if folder is None else name_log(folder))

    @property
    def _failure(self) -> str | None:
        return self.log.directory.read_failure() if self.log.directory else None

    def _run(self) -> Report:
        if not self.log.paths:
            return self._report_gone()
        try:
            verifier = self._make_verifier()
        except Mismatch as mismatch:
            return self._report_damage(LineVerifier(), mismatch.finding, self.log.paths[0], 0)
        ahead = self._verify_side_by_side(verifier) if self.jobs > 1 else {}
        for index, path in enumerate(self.log.paths):
            if self._join(verifier, index, ahead.get(index)):
                continue
            if (report := self._verify_segment(verifier, index, path)) is not None:
                return report
        return self._finish(verifier, None)

    def _verify_side_by_side(self, verifier: LineVerifier) -> dict[int, VerifiedSegment]:
        # Only here: it is for large logs, and takes longest to import.
        from amplifier_audit.parallel import verify_side_by_side

        tasks = list_tasks(verifier, self.log.paths, self._start, self._acknowledged)
        return verify_side_by_side(tasks, self.jobs, self.progress)

    def _join(self, verifier: LineVerifier, index: int, found: VerifiedSegment | None) -> bool:
        """Whether a segment was verified ahead, and goes on where those before it have ended."""
        if found is None or not found.join(verifier):
            return False
        self._done += found.end - found.task.offset
        self._remember(verifier, index, found.end)
        return True

    def _report_gone(self) -> Report:
        """Something is there that only a writer leaves, and not one segment."""
        state = self.log.state
        known = f"; its writer acknowledged {state.head.size} records" if state else ""
        finding = Finding("missing segment", 0, f"all segments are gone{known}")
        return LineVerifier().report("tampered", finding)

    def _make_verifier(self) -> LineVerifier:
        if self.since:
            self._skip_to(self.since)
            verifier = LineVerifier(
                anchors=self.anchors, key=self.key, log=self.since.log, start=self.since.head
            )
            verifier.claims.add_name(ANCHORED, self.since.name)
            return verifier
        number = self.log.numbers[0]
        first = read_first_record(self.log.paths[0])
        if first is None or first["seq"] == 0:
            self._refuse_missing_start(number)
            return LineVerifier(anchors=self.anchors, key=self.key)
        return self._start_after_missing(first, number)

    def _refuse_missing_start(self, number: int | None) -> None:
        if number:
            raise Mismatch("missing segment", 0, f"segments before {number:08d} are not there")

    def _start_after_missing(self, first: Record, number: int | None) -> LineVerifier:
        """The segments before are gone, by retention or by somebody's hand."""
        try:
            start = read_head_before(first)
        except ValueError as error:
            raise Mismatch("missing segment", 0, "the log has lost its beginning") from error
        verifier = LineVerifier(anchors=self.anchors, key=self.key, log=first["log"], start=start)
        if number is None:
            verifier.notes.append(f"one segment alone: nothing is known of the first {start.size}")
            return verifier
        self._missing = number
        self._check_seal(verifier, number - 1)
        verifier.notes.append(f"{number} segments were removed; {start.size} records not read")
        return verifier

    def _check_seal(self, verifier: LineVerifier, number: int) -> None:
        assert self.log.directory is not None
        path = self.log.directory.seal_path(number)
        try:
            note = parse_note(read_regular(path, _LONGEST_NOTE).decode())
        except (OSError, BadCheckpoint, UnicodeDecodeError) as error:
            raise Mismatch(
                "missing segment", 0, f"segment {number:08d} is gone, and so is its seal"
            ) from error
        verifier.check_note(note, f"the seal {path.name}")

    def _skip_to(self, since: State) -> None:
        if since.segment not in self.log.numbers:
            raise NotALog(
                f"Segment {since.segment:08d}, where the saved position lies, is not there"
            )
        index = self.log.numbers.index(since.segment)
        self.log = replace(self.log, paths=self.log.paths[index:], numbers=self.log.numbers[index:])

    def _verify_segment(self, verifier: LineVerifier, index: int, path: Path) -> Report | None:
        """Feed one segment; a report if something in it is wrong."""
        start = 0 if index else self._start
        if path.stat().st_size < start:
            finding = Finding("cut below anchor", verifier.size, "cut below the saved position")
            return self._report_damage(verifier, finding, path, path.stat().st_size)
        feed = SegmentFeed(verifier, path, start, self.shapes, self._acknowledged)
        if (progress := self.progress) is not None:
            done = self._done - start
            feed.progress = lambda end: progress(done + end)
        try:
            feed.run()
        except Contradiction as mismatch:
            return self._report_damage(verifier, mismatch.finding, path, feed.end)
        except Mismatch as mismatch:
            return self._judge(verifier, mismatch.finding, index, feed.end, feed.line)
        self._done += feed.end - start
        self._remember(verifier, index, feed.end)
        return None

    @property
    def _start(self) -> int:
        """The byte of the first segment where the reading begins."""
        return self.since.offset if self.since else 0

    @property
    def _acknowledged(self) -> Head | None:
        return self.log.state.head if self.log.state else None

    def _remember(self, verifier: LineVerifier, index: int, end: int) -> None:
        number = self.log.numbers[index]
        if number is not None and verifier.log is not None:
            name = verifier.claims.find_name(verifier.position)
            self.end = State(verifier.log, number, end, verifier.head, name=name)

    def _judge(
        self, verifier: LineVerifier, finding: Finding, index: int, offset: int, line: bytes
    ) -> Report:
        """A line is wrong: what a crash leaves, or what somebody did?"""
        state = self.log.state
        last = index == len(self.log.paths) - 1
        unknown = verifier.size >= state.head.size if state else is_torn(line) and offset > 0
        torn = last and unknown
        place = replace(finding, segment=self.log.paths[index].name, byte=offset)
        if not torn or finding.kind in _NO_CRASH or self._goes_on_behind(verifier, index, offset):
            return self._report_damage(verifier, finding, self.log.paths[index], offset)
        self._remember(verifier, index, offset)
        if self._is_live() and is_torn(line):
            verifier.notes.append("the last line is just being written")
            return self._finish(verifier, None)
        message = f"the end is torn, as a crash leaves it ({finding.message})"
        return self._finish(verifier, replace(place, kind="torn tail", message=message))

    def _goes_on_behind(self, verifier: LineVerifier, index: int, offset: int) -> bool:
        """Whether a later writer went on behind the damage: it would have cut it off first."""
        for _, line in read_lines(self.log.paths[index], offset):
            record = parse_or_none(line) if b'"type":"log_opened"' in line else None
            if record and record["log"] == verifier.log and record["seq"] > verifier.size:
                return True
        return False

    def _is_live(self) -> bool:
        return self.log.directory is not None and self.log.directory.is_being_written()

    def _report_damage(
        self, verifier: LineVerifier, finding: Finding, path: Path, offset: int
    ) -> Report:
        return verifier.report("tampered", replace(finding, segment=path.name, byte=offset))

    def _finish(self, verifier: LineVerifier, torn: Finding | None) -> Report:
        state = self.log.state
        if state and verifier.size < state.head.size:
            message = (
                f"{verifier.size} records are there, the writer acknowledged {state.head.size}"
            )
            last = self.log.paths[-1]
            finding = Finding("cut below anchor", verifier.size, message)
            return self._report_damage(verifier, finding, last, last.stat().st_size)
        claims = verifier.claims
        position = verifier.position
        wrong = find_unrecorded_removal(verifier, self._missing)
        if wrong := wrong or self._identity.find_stranger(claims, position):
            return verifier.report("tampered", wrong)
        report = verifier.finish(torn=torn, failed=self._failure is not None)
        return self._doubt(report, verifier)

    def _doubt(self, report: Report, verifier: LineVerifier) -> Report:
        """Nothing contradicts the log, but it is not what the anchors and its name promise."""
        # Imported here, because it brings a database, which few logs have beside them.
        from amplifier_audit.value_store import find_missing_values

        doubt = (
            self._identity.find_doubt(verifier.claims, verifier.position)
            or self._identity.find_double(verifier.claims, verifier.position, bool(self._nameless))
            or find_unproven_removal(verifier, self._missing)
            or find_earlier_log(self._earlier)
            or find_missing_values(self.log, max(report.proven_to or 0, report.signed_to or 0))
        )
        if report.verdict == "proven" and report.name is None:
            session = verifier.claims.find_session(verifier.position)
            report = replace(report, notes=(*report.notes, _describe_nameless(session)))
        if doubt is None or report.verdict == "tampered":
            return report
        verdict = "consistent" if report.verdict == "proven" else report.verdict
        notes = (*report.notes, report.finding.message) if report.finding else report.notes
        return replace(report, verdict=verdict, finding=doubt, notes=notes)


def _describe_nameless(session: str | None) -> str:
    of = f"; its first session is {session[:128]!r}" if session else ""
    return f"the log does not say whose it is{of}"


def verify(
    path: str | os.PathLike[str],
    *,
    anchors: Sequence[Note] = (),
    key: SignatureVerifier | None = None,
    progress: Progress | None = None,
    session: str | None = None,
    jobs: int = 1,
) -> Report:
    """Verify a whole log; with `session`, it must be the trail of that session.

    `jobs` says how many of its segments are verified at a time, each by a process of its own.
    """
    name = None if session is None else name_log(session)
    log = open_remains(path)
    return LogVerification(log, anchors, key, progress=progress, name=name, jobs=jobs).run()


_MOST = 1024 * 1024


def save_position(path: str | os.PathLike[str], position: State) -> None:
    """Write it to a file, as JSON."""
    try:
        Path(path).write_text(json.dumps(position.to_dict()) + "\n", "utf-8")
    except OSError as error:
        raise AuditError(f"Cannot write {path}: {error.strerror}") from error


def load_position(path: str | os.PathLike[str]) -> State:
    """A position that an earlier verification saved."""
    try:
        return State.from_dict(json.loads(read_regular(Path(path), _MOST)))
    except OSError as error:
        raise AuditError(f"Cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise AuditError(f"{path} is not a saved position of a log") from error
