"""The open segment of a writer: appends bytes, syncs, and notices when its file is taken away."""

from __future__ import annotations

import os

from amplifier_audit.files.directory import AuditDirectory, sync_directory, write_all
from amplifier_audit.writer.held_file import HeldFile, TakenAway


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
