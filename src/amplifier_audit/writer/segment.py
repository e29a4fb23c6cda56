"""The open segment of a writer: appends bytes, syncs, and notices when its file is taken away."""

from __future__ import annotations

import os

from amplifier_audit.files.directory import AuditDirectory, sync_directory, write_all


class SegmentFile:
    """Only the writer thread calls it. A method that raises OSError ends its use."""

    def __init__(self, directory: AuditDirectory, number: int, offset: int) -> None:
        path = self._path = directory.segment_path(number)
        self.number = number
        fresh = not path.exists()
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self.offset = offset
        self.synced = offset
        self._identity = _identify(os.fstat(self._file))
        if fresh:
            sync_directory(path.parent)

    def write(self, content: bytes) -> None:
        """Append; not durable yet."""
        write_all(self._file, content)
        self.offset += len(content)

    def sync(self) -> None:
        """Make everything durable that was written."""
        os.fsync(self._file)
        self._refuse_if_replaced()
        self.synced = self.offset

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _refuse_if_replaced(self) -> None:
        """A file that was deleted syncs without an error, into nowhere."""
        there = self._path.stat()
        if _identify(there) != self._identity:
            raise OSError(2, f"{self._path.name} was replaced by another file")
        if there.st_size != self.offset:
            raise OSError(
                5, f"{self._path.name} has {there.st_size} bytes, {self.offset} were written"
            )


def _identify(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
