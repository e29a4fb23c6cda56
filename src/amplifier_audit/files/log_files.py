"""The files of one log, as a reader finds them.

Reading needs no lock and disturbs no writer: the state is read before the lines, so the lines can
only be further along.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from amplifier_audit.errors import NotALog
from amplifier_audit.files.directory import AuditDirectory
from amplifier_audit.files.lines import parse_or_none, read_lines
from amplifier_audit.files.state import State, read_state
from amplifier_audit.format.record import read_claimed_hash

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
