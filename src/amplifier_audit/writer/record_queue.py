"""The records that have their sequence and wait to be chained and written.

Adding only keeps a record, with its time, and decides by counts what else is due. So whoever adds
one never waits for a hash: lines are made when they are taken, outside the lock for adding.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic_ns, time, time_ns

from amplifier_audit.files.value_store import StoredValue
from amplifier_audit.format.chain import Head, Waiting
from amplifier_audit.format.checkpoint import Note, Signer
from amplifier_audit.format.encoding import encode_body, encode_source
from amplifier_audit.format.own_records import OwnBody, SegmentRemoved
from amplifier_audit.writer.line_maker import (
    DueCheckpoint,
    DueOpening,
    DueSegment,
    Item,
    LineMaker,
    Work,
)
from amplifier_audit.writer.recovery import Opening
from amplifier_audit.writer.settings import AuditSettings


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written at once, and the end of the chain after it."""

    items: list[Item]
    values: list[StoredValue]
    notes: list[Note]
    removed: list[int]
    head: Head
    newest: Note | None


class RecordQueue:
    """Gives out sequences, adds the records by which the log speaks of itself, and makes batches.

    Whoever adds holds `lock`: the order of the queue is the order of the chain. Whoever takes or
    chains does not hold it, and any thread may; one at a time does.

    `size` is how many records there are, written or not; the next one has this sequence. While more
    than `most_waiting` bytes wait, nobody may add; below zero that is for ever.
    """

    def __init__(
        self,
        opening: Opening,
        settings: AuditSettings,
        signer: Signer | None,
        list_segments: Callable[[], list[int]],
        name: str | None = None,
    ) -> None:
        self.log = opening.log
        self.lock = threading.Lock()
        self._chaining = threading.Lock()
        self._maker = LineMaker(opening, settings, signer, name)
        self._line_bytes = self._maker.measure_line()
        self._settings = settings
        self._segment_bytes = settings.segment_bytes
        self._list_segments = list_segments
        self.size = self._taken = opening.head.size
        self._covered = opening.head.size
        self._checkpoint_at = self._covered + settings.checkpoint_every
        self._segment = opening.segment
        self._segment_size = opening.offset
        self._day = find_today()
        self._run: list[Waiting] = []
        self._work: list[Work] = [self._run]
        self._values: list[StoredValue] = []
        self._removed: list[int] = []
        self.waiting_bytes = 0
        self.most_waiting = settings.backlog_bytes

    def __bool__(self) -> bool:
        return self.size > self._taken

    @property
    def newest(self) -> Note | None:
        """The last checkpoint that was made."""
        return self._maker.newest

    @property
    def since_checkpoint(self) -> int:
        """How many records no checkpoint covers yet."""
        return self.size - self._covered

    def refuse(self) -> None:
        """Take nothing more: the log is closed, or has failed, or is another process's."""
        self.most_waiting = -1

    def leave_to_parent(self) -> None:
        """Take nothing, and wait for no thread of the parent: none of them is in this process."""
        self.lock = threading.Lock()
        self.refuse()

    def add(
        self,
        source: bytes,
        body: bytes,
        values: Sequence[StoredValue] = (),
        checkpoint: bool = False,
    ) -> int:
        """Add a record and then what is due, a checkpoint or a new segment; its sequence.

        The body is from `encode_body_now`.
        """
        sequence = self.size
        self.size = size = sequence + 1
        self._run.append((source, body, time_ns(), monotonic_ns()))
        length = len(source) + len(body) + self._line_bytes
        self.waiting_bytes += length
        self._segment_size = filled = self._segment_size + length
        if values:
            self._values += values
        if checkpoint or size >= self._checkpoint_at:
            self.add_checkpoint()
        if filled > self._segment_bytes:
            self._rotate()
        return sequence

    def add_own(self, body: OwnBody) -> int:
        """A record by which the log speaks of itself; nothing else becomes due by it."""
        source = encode_source(body.type, None, None, None, None, None)
        text = encode_body(body.to_dict())
        self._run.append((source, text, time_ns(), monotonic_ns()))
        self._segment_size += len(source) + len(text) + self._line_bytes
        self.size += 1
        return self.size - 1

    def add_checkpoint(self, type: str = "checkpoint") -> DueCheckpoint:
        """A checkpoint of everything before it; its note is there when it was chained."""
        source = encode_source(type, None, None, None, None, None)
        due = DueCheckpoint(source, time_ns(), monotonic_ns())
        self._keep_place(due)
        self.size += 1
        self._covered = self.size
        self._checkpoint_at = self.size + self._settings.checkpoint_every
        return due

    def add_due_checkpoint(self) -> None:
        """A checkpoint, if enough records have come since the last."""
        if self.size >= self._checkpoint_at:
            self.add_checkpoint()

    def add_opening(self) -> None:
        """The record that begins a segment, or goes on with one."""
        source = encode_source("log_opened", None, None, None, None, None)
        self._keep_place(DueOpening(source, time_ns(), monotonic_ns(), self._segment))
        self.size += 1

    def rotate_if_new_day(self) -> None:
        """Begin a new segment, if this one is of another day."""
        if self._settings.daily and self._day != find_today():
            self._rotate()

    def chain(self) -> None:
        """Make the lines of everything that waits now; they wait on, to be taken."""
        with self._chaining:
            with self.lock:
                work = self._give_work()
            self._make(work)

    def take(self) -> Batch:
        """Everything that waits, chained; the queue is empty then."""
        with self._chaining:
            with self.lock:
                work = self._give_work()
                values, self._values = self._values, []
                removed, self._removed = self._removed, []
                self._taken, self.waiting_bytes = self.size, 0
            self._make(work)
            items, notes = self._maker.take()
            return Batch(items, values, notes, removed, self._maker.head, self._maker.newest)

    def _give_work(self) -> tuple[list[Work], int, int]:
        """What is to be chained; the segment that it ends in, and how long that was thought."""
        work, self._run = self._work, []
        self._work = [self._run]
        return work, self._segment, self._segment_size

    def _make(self, given: tuple[list[Work], int, int]) -> None:
        work, segment, counted = given
        self._maker.make(work)
        size, line_bytes = self._maker.segment_size, self._maker.measure_line()
        with self.lock:
            self._line_bytes = line_bytes
            # What was only counted about, and what the log added, is known now.
            if self._segment == segment:
                self._segment_size += size - counted

    def _keep_place(self, due: Work) -> None:
        self._run = []
        self._work += [due, self._run]

    def _rotate(self) -> None:
        """Seal this segment and begin the next, in the order of the queue."""
        self.add_checkpoint("sealed")
        self._segment += 1
        self._segment_size = 0
        self._day = find_today()
        # The note in the record cannot cover that record; the seal beside the segment does.
        self._keep_place(DueSegment(self._segment))
        self.add_opening()
        surplus = self._list_surplus()
        for number in surplus:
            self.add_own(SegmentRemoved(segment=number))
            self.add_due_checkpoint()
        self._removed += surplus
        if surplus:
            # Signed and on disk before the segment goes: else anybody could say that it was meant.
            self.add_checkpoint()

    def _list_surplus(self) -> list[int]:
        keep = self._settings.retain_segments
        if keep is None:
            return []
        return [n for n in self._list_segments() if n < self._segment - keep]


def find_today() -> int:
    """The number of the day, in UTC."""
    return int(time() // 86400)
