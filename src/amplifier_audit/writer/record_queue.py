"""The records that have their place in the chain and wait to be written.

Whoever calls holds the log's lock: the order of the queue is the order of the chain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from time import time
from typing import Any

from amplifier_audit.files.value_store import StoredValue
from amplifier_audit.format.chain import Chain, Head
from amplifier_audit.format.checkpoint import Note, Signer, make_note
from amplifier_audit.format.encoding import encode_body, encode_source
from amplifier_audit.writer.recovery import Opening
from amplifier_audit.writer.settings import AuditSettings


@dataclass(frozen=True, slots=True)
class NewSegment:
    """In the queue between the lines of one segment and the next; the seal covers the old one."""

    number: int
    seal: Note


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written at once, and the end of the chain after it."""

    items: list[bytes | NewSegment]
    values: list[StoredValue]
    notes: list[Note]
    removed: list[int]
    head: Head
    newest: Note | None


class RecordQueue:
    """Chains records, adds the ones by which the log speaks of itself, and hands out batches.

    `size` is how many records there are, written or not; the next one has this sequence.
    """

    def __init__(
        self,
        opening: Opening,
        settings: AuditSettings,
        signer: Signer | None,
        list_segments: Callable[[], list[int]],
        name: str | None = None,
    ) -> None:
        self._chain = Chain(opening.log, opening.head)
        self._settings = settings
        self._signer = signer
        self._name = name
        self._list_segments = list_segments
        self.size = self._last_checkpoint = opening.head.size
        self._segment = opening.segment
        self._segment_size = opening.offset
        self._day = find_today()
        self._items: list[bytes | NewSegment] = []
        self._values: list[StoredValue] = []
        self._notes: list[Note] = []
        self._removed: list[int] = []
        self.newest: Note | None = None
        self.waiting_bytes = 0

    def __bool__(self) -> bool:
        return bool(self._items)

    @property
    def log(self) -> str:
        """The id of the log."""
        return self._chain.log

    @property
    def since_checkpoint(self) -> int:
        """How many records no checkpoint covers yet."""
        return self.size - self._last_checkpoint

    def add(
        self,
        source: bytes,
        body: bytes,
        values: Iterable[StoredValue] = (),
        *,
        checkpoint: bool = False,
    ) -> int:
        """Chain a record and then what is due, a checkpoint or a new segment; its sequence."""
        sequence = self._extend(source, body)
        self._values += values
        if checkpoint or self.size - self._last_checkpoint >= self._settings.checkpoint_every:
            self.add_checkpoint()
        if self._segment_size > self._settings.segment_bytes:
            self._rotate()
        return sequence

    def add_own(self, type: str, body: Mapping[str, Any]) -> int:
        """A record by which the log speaks of itself."""
        return self._extend(encode_source(type, None, None, None, None, None), encode_body(body))

    def add_checkpoint(self, type: str = "checkpoint") -> Note:
        """A checkpoint of everything before it."""
        note = self._make_note()
        self.add_own(type, {"note": note.text})
        self._last_checkpoint = self.size
        self._notes.append(note)
        self.newest = note
        return note

    def add_due_checkpoint(self) -> None:
        """A checkpoint, if enough records have come since the last."""
        if self.since_checkpoint >= self._settings.checkpoint_every:
            self.add_checkpoint()

    def add_opening(self) -> None:
        """The record that begins a segment, or goes on with one."""
        body: dict[str, Any] = {
            "name": self._name,
            "segment": self._segment,
            "process": os.getpid(),
            "level": self._settings.level,
            "values": self._settings.values,
            "checkpoint_every": self._settings.checkpoint_every,
            "key": self._signer.public if self._signer else None,
        }
        if self.size:
            head = self._chain.head
            body["previous"] = {**head.to_dict(), "root": head.compute_root().hex()}
        self.add_own("log_opened", body)

    def rotate_if_new_day(self) -> None:
        """Begin a new segment, if this one is of another day."""
        if self._settings.daily and self._day != find_today():
            self._rotate()

    def take(self) -> Batch:
        """Everything that waits; the queue is empty then."""
        batch = Batch(
            self._items,
            self._values,
            self._notes,
            self._removed,
            self._chain.head,
            self.newest,
        )
        self._items, self._values, self._notes, self._removed = [], [], [], []
        self.waiting_bytes = 0
        return batch

    def _extend(self, source: bytes, body: bytes) -> int:
        sequence = self.size
        line = self._chain.extend(source, body)
        self._items.append(line)
        self.size = sequence + 1
        self.waiting_bytes += len(line)
        self._segment_size += len(line)
        return sequence

    def _make_note(self) -> Note:
        root = self._chain.tree.compute_root()
        return make_note(self._chain.log, self.size, root, self._signer, self._name)

    def _rotate(self) -> None:
        """Seal this segment and begin the next, in the order of the queue."""
        self.add_checkpoint("sealed")
        # The note in the record cannot cover that record; the seal beside the segment does.
        seal = self._make_note()
        self._segment += 1
        self._segment_size = 0
        self._day = find_today()
        self._items.append(NewSegment(self._segment, seal))
        self.add_opening()
        surplus = self._list_surplus()
        for number in surplus:
            self.add_own("segment_removed", {"segment": number})
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
