"""The directory of a log: its files, its lock, and the lines of its segments in order."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO

from amplifier_audit.errors import AuditUnavailable, MalformedRecord, NotALog
from amplifier_audit.own_records import LogOpened
from amplifier_audit.record import Head, Record, parse_record, read_claimed_hash
from amplifier_audit.state import State, read_state
from amplifier_audit.strict_json import RECORD_LIMIT

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


_MOUNTS = Path("/proc/self/mountinfo")
_LOCAL = frozenset({"bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "ramfs", "tmpfs", "xfs"})
_ESCAPED = re.compile(r"\\([0-7]{3})")


def is_local(path: Path, mounts: Path = _MOUNTS) -> bool:
    """Whether `stat` of a path cannot hang, as it may on a network; False if that is not known."""
    try:
        table = mounts.read_text(encoding="utf-8", errors="surrogateescape")
        real = path.resolve()
    except (OSError, RuntimeError):
        return False
    kinds: dict[str, str] = {}
    for line in table.splitlines():
        before, _, after = line.partition(" - ")
        words = before.split(" ")
        if len(words) > 4 and after:
            kinds[_unescape(words[4])] = after.split(" ")[0]  # a later one covers it
    above = map(str, (real, *real.parents))
    found = next((kinds[one] for one in above if one in kinds), "")
    return found in _LOCAL


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 8)), text)


# So much is read and split at a time: large enough to be quick, small enough for any machine.
CHUNK = 128 * 1024


def read_lines(path: Path, offset: int = 0) -> Iterator[tuple[int, bytes]]:
    """Each line with the byte where it starts; a line beyond the limit comes as one piece of it."""
    with _open_at(path, offset) as file:
        readline = file.readline
        while line := readline(RECORD_LIMIT + 1):
            yield offset, line
            offset += len(line)
            if len(line) > RECORD_LIMIT:
                return


def read_batches(path: Path, offset: int = 0) -> Iterator[list[bytes]]:
    """The whole lines, many at a time, which is quicker.

    It ends before a line that has no LF or is beyond the limit: `read_lines` hands that one out.
    """
    rest = b""
    with _open_at(path, offset) as file:
        while len(rest) <= RECORD_LIMIT and (chunk := file.read(CHUNK)):
            lines = BytesIO(rest + chunk).readlines()
            rest = b"" if lines[-1].endswith(b"\n") else lines.pop()
            if max(map(len, lines), default=0) > RECORD_LIMIT:
                yield list(takewhile(lambda line: len(line) <= RECORD_LIMIT, lines))
                return
            yield lines


@contextmanager
def _open_at(path: Path, offset: int) -> Iterator[BinaryIO]:
    try:
        # A pipe would be waited for, and a device read, without end.
        if path.exists() and not path.is_file():
            raise NotALog(f"Cannot read {path}: it is not a file")
        with path.open("rb") as file:
            file.seek(offset)
            yield file
    except OSError as error:
        raise NotALog(f"Cannot read {path}: {error.strerror}") from error


def is_torn(line: bytes) -> bool:
    """Whether the file ends within this line."""
    return len(line) <= RECORD_LIMIT and not line.endswith(b"\n")


def read_first_record(path: Path) -> Record | None:
    """The first record of a segment, or None if its first line is not one."""
    for _, line in read_lines(path):
        return parse_or_none(line)
    return None


def read_last_record_before(path: Path, offset: int) -> Record | None:
    """The record whose line ends exactly at `offset`, or None."""
    start = max(0, offset - RECORD_LIMIT - 1)
    try:
        with path.open("rb") as file:
            file.seek(start)
            content = file.read(offset - start)
    except OSError:
        return None
    if len(content) < offset - start or not content.endswith(b"\n"):
        return None
    return parse_or_none(content[content.rfind(b"\n", 0, -1) + 1 :])


def parse_or_none(line: bytes) -> Record | None:
    """The record of a line, or None if the line is not one."""
    try:
        return parse_record(line)
    except MalformedRecord:
        return None


def read_head_before(record: Record) -> Head:
    """The head that the first record of a segment says it goes on from."""
    previous = LogOpened.parse(record["body"]).previous or {}
    frontier = previous.get("frontier")
    return Head.from_dict({"size": record["seq"], "hash": record["prev"], "frontier": frontier})


# So many lines of a file are looked at before it is said that it never was a log.
LOOK = 100


@dataclass(frozen=True, slots=True)
class LogFiles:
    """The segments of a log, and what its writer remembers, if that is there."""

    paths: tuple[Path, ...]
    numbers: tuple[int | None, ...]
    directory: AuditDirectory | None
    state: State | None

    @property
    def size(self) -> int:
        """All bytes."""
        return sum(path.stat().st_size for path in self.paths if path.exists())

    @property
    def name(self) -> str | None:
        """The name of the log's folder; None for one file alone."""
        return self.directory.path.resolve().name if self.directory else None

    def refuse_if_not_a_log(self) -> None:
        """Refuse a file that was never a log, instead of calling it tampered with."""
        # What a writer left beside the segments proves that there was a log: what is wrong with
        # it, is damage.
        if self.directory and self.directory.list_traces():
            return
        path = self.paths[0]
        if self.size == 0:
            raise NotALog(f"{path} is empty: there are no records")
        if not any(_looks_like_a_log(one) for one in self.paths):
            raise NotALog(f"{path} is not an audit log: its first line is not a record")


def open_log(path: str | os.PathLike[str]) -> LogFiles:
    """The files of a directory with a log, or one file alone."""
    log = open_remains(path)
    if not log.paths and log.state is not None:
        size = log.state.head.size
        raise NotALog(f"All segments of {path} are gone; its writer acknowledged {size} records")
    if not log.paths:
        raise NotALog(f"{path} holds no audit log: it has no file like 00000000.jsonl")
    return log


def open_remains(path: str | os.PathLike[str]) -> LogFiles:
    """The same, also where no segment is left but other traces of a log are."""
    given = Path(path)
    if not given.exists():
        raise NotALog(f"There is no log at {given}")
    if not given.is_dir():
        return LogFiles((given,), (None,), None, None)
    directory = AuditDirectory(given)
    state = read_state(directory.state)
    numbers = directory.list_segments()
    if not numbers and not directory.list_traces():
        raise NotALog(f"{given} holds no audit log: it has no file like 00000000.jsonl")
    return LogFiles(
        tuple(directory.segment_path(n) for n in numbers), tuple(numbers), directory, state
    )


def open_readable(path: str | os.PathLike[str]) -> LogFiles:
    """The same, for reading without verifying: a file that was never a log is refused."""
    log = open_log(path)
    log.refuse_if_not_a_log()
    return log


def _looks_like_a_log(path: Path) -> bool:
    """Whether some line is a record or was one: a changed byte does not hide that."""
    for number, (_, line) in enumerate(read_lines(path)):
        if line.startswith(b'{"v":'[: len(line)]) or parse_or_none(line):
            return True
        if read_claimed_hash(line) is not None:
            return True
        if number >= LOOK:
            break
    return False
