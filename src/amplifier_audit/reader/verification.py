"""Verifies a log as a whole: a directory with its state and seals, or a single segment."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from amplifier_audit.errors import BadCheckpoint, NotALog
from amplifier_audit.files.lines import is_torn, read_first_record, read_head_before, read_lines
from amplifier_audit.files.log_files import LogFiles, open_log
from amplifier_audit.files.state import State
from amplifier_audit.format.checkpoint import Note, SignatureVerifier, parse_note
from amplifier_audit.format.record import Record
from amplifier_audit.reader.line_verifier import LineVerifier
from amplifier_audit.reader.report import Finding, Mismatch, Report

Progress = Callable[[int], None]
# A crash leaves half a line or none; it does not make up a signature or another history.
_NO_CRASH = frozenset({"signature", "unsigned", "fork", "checkpoint"})


@dataclass(slots=True)
class LogVerification:
    """One run over the lines of a log."""

    log: LogFiles
    anchors: Sequence[Note] = ()
    key: SignatureVerifier | None = None
    since: State | None = None
    progress: Progress | None = None
    end: State | None = None
    _missing: int = 0
    _done: int = 0

    def run(self) -> Report:
        """Read everything and judge."""
        self.log.refuse_if_not_a_log()
        try:
            verifier = self._make_verifier()
        except Mismatch as mismatch:
            return self._report_damage(LineVerifier(), mismatch.finding, self.log.paths[0], 0)
        for index, path in enumerate(self.log.paths):
            if (report := self._verify_segment(verifier, index, path)) is not None:
                return report
        return self._finish(verifier, None)

    def _make_verifier(self) -> LineVerifier:
        if self.since:
            self._skip_to(self.since)
            return LineVerifier(
                anchors=self.anchors, key=self.key, log=self.since.log, start=self.since.head
            )
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
            note = parse_note(path.read_text("utf-8"))
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
        start = self.since.offset if self.since and index == 0 else 0
        if path.stat().st_size < start:
            finding = Finding("cut below anchor", verifier.size, "cut below the saved position")
            return self._report_damage(verifier, finding, path, path.stat().st_size)
        end, acknowledged = start, self._acknowledged
        for offset, line in read_lines(path, start):
            try:
                verifier.feed(line)
            except Mismatch as mismatch:
                return self._judge(verifier, mismatch.finding, index, offset, line)
            end = offset + len(line)
            if verifier.size == acknowledged and (fork := self._find_contradiction(verifier)):
                return self._report_damage(verifier, fork, path, offset)
            if self.progress and not verifier.size & 0x3FF:
                self.progress(self._done + end - start)
        self._done += end - start
        self._remember(verifier, index, end)
        return None

    @property
    def _acknowledged(self) -> int:
        return self.log.state.head.size if self.log.state else -1

    def _remember(self, verifier: LineVerifier, index: int, end: int) -> None:
        number = self.log.numbers[index]
        if number is not None and verifier.log is not None:
            self.end = State(verifier.log, number, end, verifier.head)

    def _find_contradiction(self, verifier: LineVerifier) -> Finding | None:
        """The writer's own state is no anchor, but a log that contradicts it is not whole."""
        state = self.log.state
        if state is None or verifier.hash == state.head.hash:
            return None
        return Finding("fork", verifier.size, "not the history that the writer acknowledged")

    def _judge(
        self, verifier: LineVerifier, finding: Finding, index: int, offset: int, line: bytes
    ) -> Report:
        """A line is wrong: what a crash leaves, or what somebody did?"""
        state, last = self.log.state, index == len(self.log.paths) - 1
        unknown = verifier.size >= state.head.size if state else is_torn(line) and offset > 0
        torn = last and unknown
        place = replace(finding, segment=self.log.paths[index].name, byte=offset)
        if not torn or finding.kind in _NO_CRASH:
            return self._report_damage(verifier, finding, self.log.paths[index], offset)
        self._remember(verifier, index, offset)
        if self._is_live() and is_torn(line):
            verifier.notes.append("the last line is just being written")
            return self._finish(verifier, None)
        message = f"the end is torn, as a crash leaves it ({finding.message})"
        return self._finish(verifier, replace(place, kind="torn tail", message=message))

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
        if self._missing > verifier.removed_to + 1:
            message = f"no record says that segment {self._missing - 1:08d} was to be removed"
            return verifier.report("tampered", Finding("missing segment", 0, message))
        return verifier.finish(torn=torn)


def verify(
    path: str | os.PathLike[str],
    *,
    anchors: Sequence[Note] = (),
    key: SignatureVerifier | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify a whole log."""
    return LogVerification(open_log(path), anchors, key, progress=progress).run()
