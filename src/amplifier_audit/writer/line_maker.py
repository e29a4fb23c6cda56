"""Makes the lines of records that have their sequence, and of those that the log adds of its own.

What a checkpoint or an opening says depends on all lines before it, so it is made here, in its
turn; the queue only keeps a place for it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from amplifier_audit.format.chain import Chain, Head, Waiting
from amplifier_audit.format.checkpoint import Note, Signer, make_note
from amplifier_audit.format.encoding import encode_bodies_later, encode_body
from amplifier_audit.format.own_records import CheckpointMade, LogOpened
from amplifier_audit.writer.recovery import Opening
from amplifier_audit.writer.settings import AuditSettings

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
        items, self._items = self._items, []
        notes, self._notes = self._notes, []
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
