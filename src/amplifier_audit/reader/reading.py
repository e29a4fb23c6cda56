"""Reads logs: verifies a directory or a single segment, and hands out records.

Reading needs no lock and disturbs no writer: the state is read before the lines, so the lines can
only be further along.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amplifier_audit import (
    BadCheckpoint,
    Departure,
    Finding,
    Head,
    MalformedRecord,
    Note,
    RangeRoots,
    Record,
    Report,
    SignatureVerifier,
    Verifier,
    inclusion_ranges,
    leaf_hash,
    parse,
    parse_note,
)
from amplifier_audit.errors import AuditError
from amplifier_audit.files.directory import AuditDirectory, NotALog
from amplifier_audit.files.lines import first_record, head_before, is_torn, read_lines
from amplifier_audit.files.state import State, read_state

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The segments of a log, and what its writer remembers, if that is there."""

    paths: tuple[Path, ...]
    numbers: tuple[int | None, ...]
    directory: AuditDirectory | None
    state: State | None

    @property
    def size(self) -> int:
        """All bytes."""
        return sum(path.stat().st_size for path in self.paths if path.exists())


def open_log(path: str | os.PathLike[str]) -> LogFiles:
    """The files of a directory with a log, or one file alone."""
    given = Path(path)
    if not given.exists():
        raise NotALog(f"There is no log at {given}")
    if not given.is_dir():
        return LogFiles((given,), (None,), None, None)
    directory = AuditDirectory(given)
    state = read_state(directory.state)
    numbers = directory.segments()
    if not numbers and state is not None:
        raise NotALog(
            f"All segments of {given} are gone; its writer acknowledged {state.head.size} records"
        )
    if not numbers:
        raise NotALog(f"{given} holds no audit log: it has no file like 00000000.jsonl")
    return LogFiles(tuple(directory.segment(n) for n in numbers), tuple(numbers), directory, state)


def open_readable(path: str | os.PathLike[str]) -> LogFiles:
    """The same, for those who read without verifying: what was never a log is refused."""
    log = open_log(path)
    _refuse_what_is_no_log(log)
    return log


@dataclass(slots=True)
class DirectoryVerification:
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
        _refuse_what_is_no_log(self.log)
        try:
            verifier = self._verifier()
        except Departure as departure:
            return self._tampered(Verifier(), departure.finding, self.log.paths[0], 0)
        for index, path in enumerate(self.log.paths):
            if (report := self._segment(verifier, index, path)) is not None:
                return report
        return self._finish(verifier, None)

    def _verifier(self) -> Verifier:
        if self.since:
            self._skip_to(self.since)
            return Verifier(
                anchors=self.anchors, key=self.key, log=self.since.log, start=self.since.head
            )
        number = self.log.numbers[0]
        first = first_record(self.log.paths[0])
        if first is None or first["seq"] == 0:
            self._refuse_missing_start(number)
            return Verifier(anchors=self.anchors, key=self.key)
        return self._late_start(first, number)

    def _refuse_missing_start(self, number: int | None) -> None:
        if number:
            raise Departure("missing segment", 0, f"segments before {number:08d} are not there")

    def _late_start(self, first: Record, number: int | None) -> Verifier:
        """The segments before are gone, by retention or by somebody's hand."""
        try:
            start = head_before(first)
        except ValueError as error:
            raise Departure("missing segment", 0, "the log has lost its beginning") from error
        verifier = Verifier(anchors=self.anchors, key=self.key, log=first["log"], start=start)
        if number is None:
            verifier.notes.append(f"one segment alone: nothing is known of the first {start.size}")
            return verifier
        self._missing = number
        self._check_seal(verifier, number - 1)
        verifier.notes.append(f"{number} segments were removed; {start.size} records not read")
        return verifier

    def _check_seal(self, verifier: Verifier, number: int) -> None:
        assert self.log.directory is not None
        path = self.log.directory.seal(number)
        try:
            note = parse_note(path.read_text("utf-8"))
        except (OSError, BadCheckpoint, UnicodeDecodeError) as error:
            raise Departure(
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

    def _segment(self, verifier: Verifier, index: int, path: Path) -> Report | None:
        """Feed one segment; a report if the log ends or departs in it."""
        start = self.since.offset if self.since and index == 0 else 0
        if path.stat().st_size < start:
            finding = Finding("cut below anchor", verifier.size, "cut below the saved position")
            return self._tampered(verifier, finding, path, path.stat().st_size)
        end, state = start, self.log.state
        acknowledged = state.head.size if state else -1
        for offset, line in read_lines(path, start):
            try:
                verifier.feed(line)
            except Departure as departure:
                return self._judge(verifier, departure.finding, index, offset, line)
            end = offset + len(line)
            if verifier.size == acknowledged and (departed := self._contradiction(verifier)):
                return self._tampered(verifier, departed, path, offset)
            if self.progress and not verifier.size & 0x3FF:
                self.progress(self._done + end - start)
        self._done += end - start
        self._remember(verifier, index, end)
        return None

    def _remember(self, verifier: Verifier, index: int, end: int) -> None:
        number = self.log.numbers[index]
        if number is not None and verifier.log is not None:
            self.end = State(verifier.log, number, end, verifier.head())

    def _contradiction(self, verifier: Verifier) -> Finding | None:
        """The writer's own state is no anchor, but a log that contradicts it is not whole."""
        state = self.log.state
        if state is None or verifier.hash == state.head.hash:
            return None
        return Finding("fork", verifier.size, "not the history that the writer acknowledged")

    def _judge(
        self, verifier: Verifier, finding: Finding, index: int, offset: int, line: bytes
    ) -> Report:
        """A line is wrong: what a crash leaves, or what somebody did?"""
        state, last = self.log.state, index == len(self.log.paths) - 1
        unknown = verifier.size >= state.head.size if state else is_torn(line) and offset > 0
        torn = last and unknown
        place = replace(finding, segment=self.log.paths[index].name, byte=offset)
        if not torn or finding.kind in _NO_CRASH:
            return self._tampered(verifier, finding, self.log.paths[index], offset)
        self._remember(verifier, index, offset)
        if self._is_live() and is_torn(line):
            verifier.notes.append("the last line is just being written")
            return self._finish(verifier, None)
        message = f"the end is torn, as a crash leaves it ({finding.message})"
        return self._finish(verifier, replace(place, kind="torn tail", message=message))

    def _is_live(self) -> bool:
        return self.log.directory is not None and self.log.directory.is_being_written()

    def _tampered(self, verifier: Verifier, finding: Finding, path: Path, offset: int) -> Report:
        return verifier.report("tampered", replace(finding, segment=path.name, byte=offset))

    def _finish(self, verifier: Verifier, torn: Finding | None) -> Report:
        state = self.log.state
        if state and verifier.size < state.head.size:
            message = (
                f"{verifier.size} records are there, the writer acknowledged {state.head.size}"
            )
            last = self.log.paths[-1]
            finding = Finding("cut below anchor", verifier.size, message)
            return self._tampered(verifier, finding, last, last.stat().st_size)
        if self._missing > verifier.removed_to + 1:
            message = f"no record says that segment {self._missing - 1:08d} was to be removed"
            return verifier.report("tampered", Finding("missing segment", 0, message))
        return verifier.finish(torn=torn)


_NO_CRASH = frozenset({"signature", "unsigned", "fork", "checkpoint"})


def verify_log(
    path: str | os.PathLike[str],
    *,
    anchors: Sequence[Note] = (),
    key: SignatureVerifier | None = None,
    progress: Progress | None = None,
) -> Report:
    """Verify a whole log."""
    return DirectoryVerification(open_log(path), anchors, key, progress=progress).run()


def read_records(log: LogFiles) -> Iterator[Record]:
    """All records that can be read, in order; lines that are none are left out."""
    for path in log.paths:
        for _, line in read_lines(path):
            if (record := _readable(line)) is not None:
                yield record


def follow(
    path: str | os.PathLike[str], *, poll: float = 0.2, wait: Callable[[float], Any] = time.sleep
) -> Iterator[Record]:
    """The records that are written from this call on, over segment boundaries, for ever."""
    log = open_log(path)
    if log.directory is None:
        raise NotALog(f"{path} is one file; a log that grows is a directory")
    number = log.numbers[-1] or 0
    return _following(log.directory, number, log.paths[-1].stat().st_size, poll, wait)


def _following(
    directory: AuditDirectory, number: int, offset: int, poll: float, wait: Callable[[float], Any]
) -> Iterator[Record]:
    while True:
        for position, line in read_lines(directory.segment(number), offset):
            if not line.endswith(b"\n"):
                break
            offset = position + len(line)
            if (record := _readable(line)) is not None:
                yield record
        if directory.segment(number + 1).exists():
            number, offset = number + 1, 0
        else:
            wait(poll)


def prove_inclusion(log: LogFiles, sequence: int, note: Note) -> tuple[bytes, list[bytes]]:
    """The line of a record (without LF) and the hashes that lead from it to the checkpoint."""
    size = note.checkpoint.size
    if not 0 <= sequence < size:
        raise AuditError(f"The checkpoint covers records 0 to {size - 1}, not {sequence}")
    first = first_record(log.paths[0])
    start = head_before(first) if first and first["seq"] else Head()
    if sequence < start.size:
        raise AuditError(f"Record {sequence} is not there; the log begins at {start.size}")
    roots = RangeRoots(inclusion_ranges(sequence, size), start.size, start.frontier)
    found = _stream(log, roots, start.size, sequence, size)
    if found is None:
        raise AuditError(f"The log ends before the {size} records of the checkpoint")
    return found, roots.roots()


def _stream(log: LogFiles, roots: RangeRoots, index: int, wanted: int, size: int) -> bytes | None:
    found = None
    for path in log.paths:
        for _, line in read_lines(path):
            if index == size:
                return found
            found = line[:-1] if index == wanted else found
            roots.push(leaf_hash(line[:-1]))
            index += 1
    return found if index == size else None


def newest_checkpoint(log: LogFiles) -> Note | None:
    """The last checkpoint that is in the log."""
    for path in reversed(log.paths):
        found = None
        for _, line in read_lines(path):
            if b'"type":"checkpoint"' in line or b'"type":"sealed"' in line:
                found = _note(line) or found
        if found:
            return found
    return None


def load_position(path: str | os.PathLike[str]) -> State:
    """A position that an earlier verification saved."""
    try:
        return State.from_dict(json.loads(Path(path).read_text("utf-8")))
    except OSError as error:
        raise AuditError(f"Cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise AuditError(f"{path} is no saved position of a log") from error


def _note(line: bytes) -> Note | None:
    record = _readable(line)
    try:
        return parse_note(record["body"].get("note")) if record else None
    except BadCheckpoint:
        return None


def _readable(line: bytes) -> Record | None:
    try:
        return parse(line)
    except MalformedRecord:
        return None


def _refuse_what_is_no_log(log: LogFiles) -> None:
    """Say so at once when the file was never a log, instead of calling it tampered with."""
    path = log.paths[0]
    if log.state is None and log.size == 0:
        raise NotALog(f"{path} is empty: there are no records")
    for _, line in read_lines(path):
        if not line.startswith(b'{"v":'[: len(line)]):
            raise NotALog(f"{path} is no audit log: its first line is no record")
        return
