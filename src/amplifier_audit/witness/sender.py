"""Sends the checkpoints of a log to a witness, each with the proof that it continues the last.

The proof needs the records since the last checkpoint that the witness has, and of those before
only the frontier of their tree. So a log is read once, as it grows.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from amplifier_audit.errors import AuditError, WitnessRefused, WitnessUnavailable
from amplifier_audit.files.lines import read_lines
from amplifier_audit.files.log_files import LogFiles, open_log
from amplifier_audit.format.checkpoint import Checkpoint, Note
from amplifier_audit.format.proof import RangeRoots, list_consistency_ranges
from amplifier_audit.format.tree import Tree, hash_leaf
from amplifier_audit.reader.inclusion import find_start
from amplifier_audit.witness.client import Witness

logger = logging.getLogger(__name__)
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0


class WitnessSender:
    """An anchor of one log. A witness that does not answer is told of later, from where it was."""

    def __init__(
        self,
        witness: Witness,
        path: Path,
        alarm: Callable[[str], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._witness = witness
        self._path = path
        self._alarm = alarm
        self._clock = clock
        self._known = 0
        self._read: _Reading | None = None
        self._pause = 0.0
        self._again = 0.0

    def __call__(self, note: Note) -> None:
        """Send a checkpoint; what went wrong is told once, and tried again with the next."""
        if self._clock() < self._again:
            return
        try:
            self._send(note)
        except WitnessUnavailable as error:
            self._wait(error)
        except WitnessRefused as error:
            self._tell(str(error))
            self._again = float("inf")
        else:
            self._pause = 0.0

    def _wait(self, error: AuditError) -> None:
        if not self._pause:
            logger.warning("%s; its checkpoints follow when it does", error)
        self._pause = min(LONGEST_PAUSE, self._pause * 2 or FIRST_PAUSE)
        self._again = self._clock() + self._pause

    def _tell(self, message: str) -> None:
        logger.error("%s", message)
        if self._alarm is not None:
            self._alarm(message)

    def _send(self, note: Note) -> None:
        log = open_log(self._path)
        if self._read is None or self._read.path not in log.paths:
            self._known, self._read = self._compare(log, note.checkpoint)
        size, read = note.checkpoint.size, self._read
        if size <= self._known:
            return
        ranges = list_consistency_ranges(self._known, size) if self._known else []
        roots = RangeRoots(ranges, read.tree.size, read.tree.frontier)
        grown = read.grow(log, size, roots.push)
        self._witness.put(note, roots.compute_roots())
        self._known, self._read = size, grown

    def _compare(self, log: LogFiles, checkpoint: Checkpoint) -> tuple[int, _Reading]:
        """How far the witness has seen the log; that must be the beginning of what is here."""
        start = find_start(log)
        begun = _Reading(Tree(start.size, start.frontier), log.paths[0], 0)
        newest = self._witness.read_newest(checkpoint.log)
        if newest is None:
            return 0, begun
        size = newest.checkpoint.size
        if not start.size <= size <= checkpoint.size:
            raise WitnessRefused(
                f"The witness knows {size} records of this log, which has {start.size} to "
                f"{checkpoint.size}: it has lost records, or has two histories"
            )
        read = begun.grow(log, size)
        if read.tree.compute_root() != newest.checkpoint.root:
            raise WitnessRefused(f"The witness knows another history of the first {size} records")
        return size, read


@dataclass(frozen=True, slots=True)
class _Reading:
    """A tree over the first records of a log, and where in its segments the next one begins."""

    tree: Tree
    path: Path
    offset: int

    def grow(self, log: LogFiles, size: int, take: Callable[[bytes], None] | None = None) -> Self:
        """Read on to that size, and hand out the hashes on the way."""
        tree, path, offset = Tree(self.tree.size, self.tree.frontier), self.path, self.offset
        for at in log.paths[log.paths.index(self.path) :]:
            for position, line in read_lines(at, self.offset if at == self.path else 0):
                if tree.size == size:
                    return replace(self, tree=tree, path=path, offset=offset)
                leaf = hash_leaf(line[:-1])
                tree.push(leaf)
                path, offset = at, position + len(line)
                if take is not None:
                    take(leaf)
        if tree.size < size:
            raise WitnessUnavailable(f"The log has {tree.size} records, its checkpoint {size}")
        return replace(self, tree=tree, path=path, offset=offset)
