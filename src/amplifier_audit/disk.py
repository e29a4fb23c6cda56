"""Puts batches on disk, in an order that a crash may interrupt anywhere.

values, lines, sync of the lines, state: what a line refers to is there before the line, and the
state never claims a line that is not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from amplifier_audit.checkpoint import Note
from amplifier_audit.line_maker import Batch, NewSegment
from amplifier_audit.log_directory import AuditDirectory, sync_directory, write_all, write_file
from amplifier_audit.recovery import Opening
from amplifier_audit.state import State, StateFile
from amplifier_audit.value_store import ValueStore


class TakenAway(OSError):
    """A file of the log is no longer where it was, or no longer what it was."""

    def __init__(self, reason: str) -> None:
        super().__init__(2, reason)


class HeldFile:
    """One file or folder. `size` is how long it must be at least; any thread may ask."""

    __slots__ = ("_exact", "_identity", "_link", "path", "size")

    def __init__(
        self, path: Path, descriptor: int | None = None, *, exact: bool = False, link: bool = False
    ) -> None:
        """`exact`: nobody may write it; `link`: its name may be a link."""
        self.path = path
        self.size = 0
        self._link = link
        status = path.stat() if descriptor is None else os.fstat(descriptor)
        self._identity = (status.st_dev, status.st_ino)
        self._exact = (status.st_size, status.st_mtime_ns) if exact else None

    def find_loss(self) -> str | None:
        """What happened to it, or None."""
        size = self.size  # before the look: the writer may write on meanwhile
        try:
            there = self.path.stat(follow_symlinks=self._link)
        except OSError:
            return f"{self.path.name} is gone"
        if (there.st_dev, there.st_ino) != self._identity:
            return f"{self.path.name} was replaced by another file"
        if there.st_size < size:
            return f"{self.path.name} has {there.st_size} bytes, {size} were written"
        if self._exact not in (None, (there.st_size, there.st_mtime_ns)):
            return f"{self.path.name} was changed"
        return None


class SegmentFile:
    """Only the writer thread calls it. A method that raises OSError ends its use."""

    def __init__(self, directory: AuditDirectory, number: int, offset: int) -> None:
        path = self._path = directory.segment_path(number)
        self.number = number
        fresh = not path.exists()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.offset = offset
        self.synced = offset
        self.held = HeldFile(path, self._file)
        self.held.size = offset
        try:
            if fresh:
                sync_directory(path.parent)
        except OSError:
            self.close()
            raise

    def write(self, content: bytes) -> None:
        """Append; not durable yet."""
        write_all(self._file, content)
        self.offset += len(content)

    def sync(self) -> None:
        """Make everything durable that was written."""
        os.fsync(self._file)
        self._refuse_if_changed()
        self.synced = self.held.size = self.offset

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _refuse_if_changed(self) -> None:
        """A file that was deleted syncs without an error, into nowhere."""
        if loss := self.held.find_loss():
            raise TakenAway(loss)
        size = os.fstat(self._file).st_size
        if size != self.offset:
            raise TakenAway(f"{self._path.name} has {size} bytes, {self.offset} were written")


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
        segment = self._segment
        newest = batch.newest.text if batch.newest else None
        # After the lines, so that the state is never ahead of them.
        self._state.write(State(self._log, segment.number, segment.offset, batch.head, newest))
        notes = self._unsynced_notes
        self._unsynced_notes = []
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
