"""Makes the lines of records that have their sequence, and of those that the log adds of its own.

What a checkpoint or an opening says depends on all lines before it, so it is made here, in its
turn; the queue only keeps a place for it.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic_ns, time, time_ns
from typing import Any

from amplifier_audit.checkpoint import Note, Signer, make_note
from amplifier_audit.encoding import encode, encode_bodies_later, encode_body, encode_source
from amplifier_audit.own_records import CheckpointMade, LogOpened, OwnBody, SegmentRemoved
from amplifier_audit.record import Chain, Head, Waiting
from amplifier_audit.recovery import Opening
from amplifier_audit.settings import AuditSettings
from amplifier_audit.strict_json import Limits
from amplifier_audit.value_store import StoredValue, make_commitment

# So many bodies are looked at together: enough to share the cost, few enough to find one again.
SLICE = 64


@dataclass(slots=True)
class DueCheckpoint:
    """The place of a checkpoint of everything before it; it has its `note` when that is made."""

    source: bytes
    moment: int
    ticks: int
    note: Note | None = None


@dataclass(frozen=True, slots=True)
class DueOpening:
    """The place of the record that begins a segment, or goes on with one."""

    source: bytes
    moment: int
    ticks: int
    segment: int


@dataclass(frozen=True, slots=True)
class DueSegment:
    """The place between the lines of one segment and the next."""

    number: int


@dataclass(frozen=True, slots=True)
class NewSegment:
    """Between the lines of one segment and the next; the seal covers the old one."""

    number: int
    seal: Note


Work = list[Waiting] | DueCheckpoint | DueOpening | DueSegment
Item = bytes | NewSegment


class LineMaker:
    """One thread at a time, in the order in which the queue gave out sequences.

    `segment_size` is how long the last segment is with all lines that were made.
    """

    def __init__(
        self, opening: Opening, settings: AuditSettings, signer: Signer | None, name: str | None
    ) -> None:
        self._chain = Chain(opening.log, opening.head)
        self._settings = settings
        self._signer = signer
        self._name = name
        self.segment_size = opening.offset
        self.newest: Note | None = None
        self._items: list[Item] = []
        self._notes: list[Note] = []
        self._is_whole = True

    @property
    def head(self) -> Head:
        """The end of the chain."""
        return self._chain.head

    def measure_line(self) -> int:
        """How long a line is without its source and its body, about."""
        return self._chain.measure_line()

    def make(self, work: Sequence[Work]) -> None:
        """Make the lines of all this; they stay here until they are taken.

        If one fails it is final: the next would have the place of records that are lost.
        """
        if not self._is_whole:
            raise RuntimeError("lines before these could not be made")
        self._is_whole = False
        for one in work:
            if isinstance(one, list):
                self._make_lines(one)
            elif isinstance(one, DueCheckpoint):
                self._make_checkpoint(one)
            elif isinstance(one, DueOpening):
                self._make_own(one, self._describe(one.segment).to_dict())
            else:
                self._items.append(NewSegment(one.number, self._make_note()))
                self.segment_size = 0
        self._is_whole = True

    def take(self) -> tuple[list[Item], list[Note]]:
        """All lines that were made, with the checkpoints among them."""
        items = self._items
        self._items = []
        notes = self._notes
        self._notes = []
        return items, notes

    def _make_lines(self, records: list[Waiting]) -> None:
        for start in range(0, len(records), SLICE):
            some = records[start : start + SLICE]
            texts = [record[1] for record in some]
            bodies = encode_bodies_later(texts)
            if bodies is not texts:
                some = [(a, body, c, d) for (a, _, c, d), body in zip(some, bodies, strict=True)]
            self._add(self._chain.extend_all(some))

    def _make_checkpoint(self, due: DueCheckpoint) -> None:
        note = self._make_note()
        self._make_own(due, CheckpointMade(note=note.text).to_dict())
        self._notes.append(note)
        self.newest = due.note = note

    def _make_own(self, due: DueCheckpoint | DueOpening, body: dict[str, Any]) -> None:
        record = due.source, encode_body(body), due.moment, due.ticks
        self._add(self._chain.extend_all([record]))

    def _add(self, lines: list[bytes]) -> None:
        self._items += lines
        self.segment_size += sum(map(len, lines))

    def _make_note(self) -> Note:
        tree = self._chain.tree
        return make_note(self._chain.log, tree.size, tree.compute_root(), self._signer, self._name)

    def _describe(self, segment: int) -> LogOpened:
        head = self._chain.head
        previous = {**head.to_dict(), "root": head.compute_root().hex()}
        return LogOpened(
            name=self._name,
            segment=segment,
            process=os.getpid(),
            level=self._settings.level,
            values=self._settings.values,
            checkpoint_every=self._settings.checkpoint_every,
            key=self._signer.public if self._signer else None,
            previous=previous if self._chain.size else None,
        )


SALT_BYTES = 16
VALUE_LIMITS = Limits(text=1 << 20, members=10_000, depth=32, nodes=50_000)
SENSITIVE = frozenset(
    {
        "arguments",
        "comment",
        "content",
        "context_injection",
        "data",
        "edited_input",
        "input",
        "message",
        "output",
        "printed",
        "prompt",
        "response",
        "result",
        "text",
        "tool_input",
        "tool_result",
        "user_message",
    }
)
"""The members of a body that hold what people and models wrote, at any depth."""


def commit_to(value: Any) -> StoredValue:
    """A fresh commitment to a value."""
    encoded = encode(value, VALUE_LIMITS)
    salt = os.urandom(SALT_BYTES)
    media_type = "text/plain" if isinstance(value, str) else "application/json"
    return StoredValue(make_commitment(salt, encoded), salt, media_type, encoded)


def replace_sensitive(body: Any) -> tuple[Any, list[StoredValue]]:
    """The body with each sensitive member replaced by its commitment, and the values themselves.

    It is encoded first, so that what is walked here is finite and harmless.
    """
    kept: list[StoredValue] = []
    return _replace(json.loads(encode(body, VALUE_LIMITS)), kept), kept


def _replace(value: Any, kept: list[StoredValue]) -> Any:
    if isinstance(value, dict):
        replaced: dict[str, Any] = {}
        for key, entry in value.items():
            is_sensitive = key in SENSITIVE and entry not in (None, "")
            replaced[key] = (_commit if is_sensitive else _replace)(entry, kept)
        return replaced
    if isinstance(value, list):
        return [_replace(entry, kept) for entry in value]
    return value


def _commit(value: Any, kept: list[StoredValue]) -> dict[str, Any]:
    row = commit_to(value)
    kept.append(row)
    return {
        "$commitment": row.commitment,
        "media_type": row.media_type,
        "length": len(row.value),
    }


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
                values = self._values
                self._values = []
                removed = self._removed
                self._removed = []
                self._taken = self.size
                self.waiting_bytes = 0
            self._make(work)
            items, notes = self._maker.take()
            return Batch(items, values, notes, removed, self._maker.head, self._maker.newest)

    def _give_work(self) -> tuple[list[Work], int, int]:
        """What is to be chained; the segment that it ends in, and how long that was thought."""
        work = self._work
        self._run = []
        self._work = [self._run]
        return work, self._segment, self._segment_size

    def _make(self, given: tuple[list[Work], int, int]) -> None:
        work, segment, counted = given
        self._maker.make(work)
        size = self._maker.segment_size
        line_bytes = self._maker.measure_line()
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
