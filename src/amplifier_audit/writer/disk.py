"""Puts batches on disk, in an order that a crash may interrupt anywhere.

values, lines, sync of the lines, state: what a line refers to is there before the line, and the
state never claims a line that is not there.
"""

from __future__ import annotations

from collections.abc import Iterable

from amplifier_audit.files.directory import AuditDirectory, write_file
from amplifier_audit.files.state import State, StateFile
from amplifier_audit.files.value_store import ValueStore
from amplifier_audit.format.checkpoint import Note
from amplifier_audit.writer.held_file import HeldFile, TakenAway
from amplifier_audit.writer.line_maker import NewSegment
from amplifier_audit.writer.record_queue import Batch
from amplifier_audit.writer.recovery import Opening
from amplifier_audit.writer.segment import SegmentFile


class Disk:
    """The open files of a writer. Only one thread calls it; what raises OSError ends its use."""

    def __init__(
        self,
        directory: AuditDirectory,
        opening: Opening,
        values: ValueStore | None,
        watched: Iterable[HeldFile] = (),
    ) -> None:
        self._directory = directory
        self._log = opening.log
        self._values = values
        self._segment = SegmentFile(directory, opening.segment, opening.offset)
        try:
            self._state = StateFile(directory.state)
        except OSError:
            self._segment.close()
            raise
        self._watched = (*watched, HeldFile(directory.state, self._state.descriptor))
        self._unsynced_notes: list[Note] = []
        self._removed: list[int] = []

    @property
    def is_synced(self) -> bool:
        """Whether everything that was written is durable."""
        return self._segment.offset == self._segment.synced

    def write(self, batch: Batch) -> None:
        """Write; not durable yet."""
        # A commitment whose value a crash took could never be opened, so values go first.
        if batch.values and self._values:
            self._values.add(batch.values)
        lines: list[bytes] = []
        for item in batch.items:
            if isinstance(item, bytes):
                lines.append(item)
                continue
            self._segment.write(b"".join(lines))
            lines = []
            self._begin_segment(item)
        if lines:
            self._segment.write(b"".join(lines))
        self._unsynced_notes += batch.notes
        self._removed += batch.removed

    def sync(self, batch: Batch) -> list[Note]:
        """Make everything durable up to the end of this batch; the checkpoints that now are."""
        self._segment.sync()
        if loss := self.find_loss():
            raise TakenAway(loss)
        segment, newest = self._segment, batch.newest.text if batch.newest else None
        # After the lines, so that the state is never ahead of them.
        self._state.write(State(self._log, segment.number, segment.offset, batch.head, newest))
        notes, self._unsynced_notes = self._unsynced_notes, []
        # A state that is a little old costs a longer look at the next opening and nothing else, so
        # its own sync can wait for a checkpoint.
        if notes:
            self._state.sync()
        return notes

    def find_loss(self) -> str | None:
        """Which of the files was taken away or replaced; any thread may ask."""
        held = (*self._watched, self._segment.held)
        return next(filter(None, (one.find_loss() for one in held)), None)

    def remove_surplus(self) -> None:
        """Delete the segments whose removal is on record, durably."""
        for number in self._removed:
            self._directory.segment_path(number).unlink(missing_ok=True)
        self._removed = []

    def close(self) -> None:
        """Close all files."""
        self._segment.close()
        self._state.close()
        if self._values:
            self._values.close()

    def _begin_segment(self, new: NewSegment) -> None:
        # The old segment is whole and sealed before the new one has a name.
        old = self._segment
        old.sync()
        write_file(self._directory.seal_path(new.number - 1), new.seal.text.encode())
        self._segment = SegmentFile(self._directory, new.number, 0)
        # Last: what fails before leaves an open file that `close` closes, once.
        old.close()
