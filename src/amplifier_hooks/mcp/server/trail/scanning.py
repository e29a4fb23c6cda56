"""Reading trails backwards, a segment at a time, until there is enough or time is up."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from pathlib import Path

from amplifier_audit.errors import AuditError
from amplifier_audit.files.lines import parse_or_none, read_lines
from amplifier_audit.files.log_files import open_readable
from amplifier_audit.format.record import Record
from amplifier_hooks.mcp.server.failures import Refused
from amplifier_hooks.mcp.server.trail.filters import RecordFilter
from amplifier_hooks.mcp.server.trail.trails import Deadline, OpenTrail

END = 2**53
"""Behind every record of a trail."""

_LOOK = 256
"""So many records are read between two looks at the clock."""


class TimeUp(Exception):
    """Reading takes longer than a caller waits."""


class Scan:
    """Hands out the matching records of trails, the newest first."""

    def __init__(self, wanted: RecordFilter, limit: int, deadline: Deadline) -> None:
        self._wanted = wanted
        self._limit = limit
        self._deadline = deadline
        self._read_any = False
        self.stopped_at: int | None = None
        """The record before which it stopped, because its time was up."""

    def read(self, trail: OpenTrail, before: int = END) -> Iterator[Record]:
        """Those before a record; Refused if not even one segment can be read in time."""
        for path in list_segments(trail):
            first = next(read_segment(path), None)
            if first is None or first["seq"] >= before:
                continue
            try:
                found = self._collect(path, before)
            except TimeUp:
                self._stop(before)
                return
            yield from reversed(found)
            before, self._read_any = first["seq"], True

    def _stop(self, before: int) -> None:
        if not self._read_any:
            raise Refused(
                f"The newest part of the trail cannot be read within {self._deadline.seconds:g} "
                "seconds; a person can search it with `amplifier audit show`"
            )
        self.stopped_at = before

    def _collect(self, path: Path, before: int) -> deque[Record]:
        found: deque[Record] = deque(maxlen=self._limit)
        for record in read_in_time(path, self._deadline):
            if record["seq"] >= before:
                break
            if self._wanted.matches(record):
                found.append(record)
        return found


def find_record(trail: OpenTrail, sequence: int, deadline: Deadline) -> Record | None:
    """The record of that number, or None."""
    for path in list_segments(trail):
        first = next(read_segment(path), None)
        if first is not None and first["seq"] <= sequence:
            records = read_in_time(path, deadline)
            return next((one for one in records if one["seq"] == sequence), None)
    return None


def list_segments(trail: OpenTrail) -> list[Path]:
    """The files of a trail, the newest first; none if it cannot be read."""
    try:
        return list(reversed(open_readable(trail.path).paths))
    except (AuditError, OSError):
        return []


def read_in_time(path: Path, deadline: Deadline) -> Iterator[Record]:
    """The records of a segment; TimeUp when the deadline has passed."""
    for number, record in enumerate(read_segment(path)):
        if number % _LOOK == 0 and deadline.is_over:
            raise TimeUp
        yield record


def read_segment(path: Path) -> Iterator[Record]:
    """The records that can be read; a segment may be removed meanwhile."""
    try:
        for _, line in read_lines(path):
            if (record := parse_or_none(line)) is not None:
                yield record
    except (AuditError, OSError):
        return
