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
from amplifier_audit.files.lines import read_lines
from amplifier_audit.files.state import State, read_state


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

    def refuse_if_not_a_log(self) -> None:
        """Refuse a file that was never a log, instead of calling it tampered with."""
        # A writer's state proves that there was a log: what is wrong with it, is damage.
        if self.state is not None:
            return
        path = self.paths[0]
        if self.size == 0:
            raise NotALog(f"{path} is empty: there are no records")
        for _, line in read_lines(path):
            if not line.startswith(b'{"v":'[: len(line)]):
                raise NotALog(f"{path} is no audit log: its first line is no record")
            return


def open_log(path: str | os.PathLike[str]) -> LogFiles:
    """The files of a directory with a log, or one file alone."""
    given = Path(path)
    if not given.exists():
        raise NotALog(f"There is no log at {given}")
    if not given.is_dir():
        return LogFiles((given,), (None,), None, None)
    directory = AuditDirectory(given)
    state = read_state(directory.state)
    numbers = directory.list_segments()
    if not numbers and state is not None:
        raise NotALog(
            f"All segments of {given} are gone; its writer acknowledged {state.head.size} records"
        )
    if not numbers:
        raise NotALog(f"{given} holds no audit log: it has no file like 00000000.jsonl")
    return LogFiles(
        tuple(directory.segment_path(n) for n in numbers), tuple(numbers), directory, state
    )


def open_readable(path: str | os.PathLike[str]) -> LogFiles:
    """The same, for reading without verifying: a file that was never a log is refused."""
    log = open_log(path)
    log.refuse_if_not_a_log()
    return log
