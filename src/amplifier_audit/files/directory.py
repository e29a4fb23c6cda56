"""The directory of a log: which file is what.

00000000.jsonl …         segments, one JSON record per line
state                    how far the writer has acknowledged (two slots)
sealed/00000000.note     the checkpoint that sealed a segment; outlives its segment
quarantine/…             bytes that a recovery took off the end
values.db                prompts, inputs and outputs, when the lines hold commitments only
failed                   a sync failed here; the next writer begins a new segment
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from amplifier_audit.errors import AuditUnavailable, NotALog

# Logs can be read and verified on every platform; locks, and so writing, need POSIX.
try:
    import fcntl
except ImportError:
    CAN_LOCK = False
else:
    CAN_LOCK = True

FAILURE_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class AuditDirectory:
    """Names and elementary operations; no policy."""

    path: Path

    @property
    def state(self) -> Path:
        """The writer's own memory."""
        return self.path / "state"

    @property
    def values(self) -> Path:
        """The side store."""
        return self.path / "values.db"

    @property
    def failed(self) -> Path:
        """The mark of a failed sync."""
        return self.path / "failed"

    @property
    def quarantine(self) -> Path:
        """Where torn bytes go."""
        return self.path / "quarantine"

    def segment_path(self, number: int) -> Path:
        """The file of a segment."""
        return self.path / f"{number:08d}.jsonl"

    def seal_path(self, number: int) -> Path:
        """The checkpoint that sealed a segment."""
        return self.path / "sealed" / f"{number:08d}.note"

    def list_segments(self) -> list[int]:
        """The numbers of the segments that are there, in order."""
        try:
            names = [entry.name for entry in self.path.iterdir()]
        except OSError as error:
            raise NotALog(f"Cannot read {self.path}: {error.strerror}") from error
        numbers = [name.removesuffix(".jsonl") for name in names if name.endswith(".jsonl")]
        return sorted(int(n) for n in numbers if len(n) == 8 and n.isascii() and n.isdigit())

    def list_traces(self) -> list[Path]:
        """What a writer leaves beside the segments, and nobody else does."""
        found = [path for path in (self.state, self.failed) if path.exists()]
        for folder in (self.seal_path(0).parent, self.quarantine):
            found += folder.glob("*") if folder.is_dir() else ()
        return found

    def read_failure(self) -> str | None:
        """Why the last writer gave up; None if it did not."""
        try:
            content = self.failed.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"unknown: {error.strerror}"
        return content[:FAILURE_LIMIT].decode("utf-8", "replace") or "unknown"

    def create(self) -> None:
        """Make the directory, for its owner only, under a name that survives a crash."""
        try:
            fresh = [path for path in (self.path, *self.path.parents) if not path.exists()]
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A folder that may be written but not read cannot be synced.
            with contextlib.suppress(PermissionError):
                for path in fresh:
                    sync_directory(path.parent)
        except OSError as error:
            raise AuditUnavailable(
                f"Cannot make the audit directory {self.path}: {error.strerror}"
            ) from error

    def lock(self) -> int:
        """Take the log for this process; the lock lives as long as the returned descriptor.

        The directory itself is locked, as a whole: it cannot be swapped under the lock, and the
        lock does not vanish when some other descriptor is closed, as POSIX record locks do.
        """
        if not CAN_LOCK:
            raise AuditUnavailable("Writing a log needs file locks (fcntl); this platform has none")
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError as error:
            raise AuditUnavailable(f"Cannot open {self.path}: {error.strerror}") from error
        if not _take_lock(descriptor):
            os.close(descriptor)
            raise AuditUnavailable(
                f"Another writer has the log {self.path}; give this one a directory of its own"
            )
        return descriptor

    def is_being_written(self) -> bool:
        """Whether some writer holds the lock."""
        if not CAN_LOCK:
            return False
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        else:
            return False
        finally:
            os.close(descriptor)


def _take_lock(descriptor: int) -> bool:
    """A reader that asks whether somebody writes holds the lock for a moment: so try again."""
    for pause in (0.0, 0.005, 0.02, 0.05):
        time.sleep(pause)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        return True
    return False


def sync_directory(path: Path) -> None:
    """Make the names in a directory durable, where the platform can."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file durably: all of it or none under its name."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        write_all(descriptor, content)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    # The content is on disk before the name: after a crash there is the old file or the new one.
    partial.replace(path)
    sync_directory(path.parent)


def write_all(descriptor: int, content: bytes) -> None:
    """`os.write` until everything is written."""
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


@contextlib.contextmanager
def raise_unavailable(doing: str) -> Iterator[None]:
    """Say in one sentence what the operating system refused."""
    try:
        yield
    except OSError as error:
        raise AuditUnavailable(f"Cannot {doing}: {error.strerror or error}") from error
