"""Feeds a verifier with the lines of one segment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from amplifier_audit.files.lines import read_batches, read_lines
from amplifier_audit.format.chain import Head
from amplifier_audit.reader.bulk.batches import LineBatches
from amplifier_audit.reader.bulk.shapes import Shapes
from amplifier_audit.reader.line_verifier import LineVerifier
from amplifier_audit.reader.report import Mismatch

# Records after which the progress is told.
STEP = 1024


class Contradiction(Mismatch):
    """The line is right, but not the one that the writer acknowledged."""


@dataclass(slots=True)
class SegmentFeed:
    """Feeds the lines from byte `end` on; `end` moves on behind each line that is right.

    `acknowledged` is what the writer's own state knows, `progress` is told where the reading is.
    """

    verifier: LineVerifier
    path: Path
    end: int
    shapes: Shapes
    acknowledged: Head | None = None
    progress: Callable[[int], None] | None = None
    line: bytes = b""

    def run(self) -> None:
        """All lines; Mismatch if another one belongs where `line` is, which begins at `end`."""
        batches = LineBatches(self.verifier, self.shapes)
        for lines in read_batches(self.path, self.end):
            first = 0
            while first < len(lines):
                first += self._feed_some(batches, lines, first)
        for _, line in read_lines(self.path, self.end):
            self.line = line
            self.verifier.feed(line)
            self._move_on(len(line), len(line))

    def _feed_some(self, batches: LineBatches, lines: list[bytes], first: int) -> int:
        """Many ordinary lines, or one that is not; how many."""
        taken = batches.take(lines, first, self._find_stop())
        if not taken:
            self.line = lines[first]
            batches.feed(self.line)
            taken = 1
        behind = first + taken
        self._move_on(sum(map(len, lines[first:behind])), len(lines[behind - 1]))
        return taken

    def _find_stop(self) -> int:
        """The size at which there is something to do."""
        size = self.verifier.size
        told = (size | STEP - 1) + 1
        known = self.acknowledged
        return min(told, known.size) if known and known.size > size else told

    def _move_on(self, read: int, last: int) -> None:
        size, known = self.verifier.size, self.acknowledged
        if known and size == known.size and self.verifier.hash != known.hash:
            self.end += read - last
            raise Contradiction("fork", size, "not the history that the writer acknowledged")
        self.end += read
        if self.progress and not size % STEP:
            self.progress(self.end)
