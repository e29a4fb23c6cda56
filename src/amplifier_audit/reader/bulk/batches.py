"""Feeds a verifier with many lines at a time.

Ordinary records that have a known shape are checked here, with as few steps as there can be: each
is in its place, links to the one before, has the hash that it states, and fits its shape. Every
other line goes to the verifier itself, which knows all rules and says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from amplifier_audit.format.record import RECORD_DIGEST, TAIL
from amplifier_audit.format.tree import LEAF_DIGEST
from amplifier_audit.reader.bulk.shapes import NOTHING, Shape, Shapes
from amplifier_audit.reader.line_verifier import LineVerifier

_LINKS = len(',"prev":""') + 64 + TAIL


class LineBatches:
    """Takes whole lines, each within the limit."""

    __slots__ = ("_last", "_shapes", "_verifier")

    def __init__(self, verifier: LineVerifier, shapes: Shapes) -> None:
        self._verifier = verifier
        self._shapes = shapes
        self._last = Shape(NOTHING)

    def take(self, lines: Sequence[bytes], first: int, stop: int) -> int:
        """Check the ordinary lines from `first` on, up to `stop` records; how many they are."""
        verifier = self._verifier
        most = min(verifier.count_ordinary(), stop - verifier.size)
        if verifier.log is None or most <= 0:
            return 0
        leaves, own = self._check(lines, first, first + most)
        if leaves:
            verifier.advance(leaves, own)
        return len(leaves)

    def feed(self, line: bytes) -> None:
        """Check the next line by all rules; Mismatch if another belongs there."""
        verifier, before = self._verifier, self._verifier.hash
        start = b"%b%d," % (verifier.line_start, verifier.size)
        record = verifier.feed(line)
        end = f',"prev":"{before}","hash":"{verifier.hash}"}}\n'.encode()
        if line.startswith(start) and line.endswith(end):
            self._shapes.learn(line[len(start) : -len(end)], record["type"])

    def _check(self, lines: Sequence[bytes], first: int, end: int) -> tuple[list[bytes], str]:
        """The leaves of the lines that are right, and the hash of the last; no step is wasted."""
        verifier, shape, find = self._verifier, self._last, self._shapes.find
        before, own = verifier.line_start.decode("ascii"), verifier.hash
        unnamed = verifier.claims.first_session is None
        copy_record, copy_leaf = RECORD_DIGEST.copy, LEAF_DIGEST.copy
        leaves: list[bytes] = []
        for sequence, line in enumerate(lines[first:end], verifier.size):
            start = f"{before}{sequence},".encode()
            begin, behind = len(start), len(line) - _LINKS
            following = shape.next
            if not following.fits(line, begin, behind):
                found = find(line, begin, behind)
                if found is None:
                    break
                shape.next = following = found
            shape = following
            record = copy_record()
            record.update(line[:-TAIL])
            stated = record.hexdigest()
            links = f',"prev":"{own}","hash":"{stated}"}}\n'.encode()
            if line[:begin] != start or line[behind:] != links:
                break
            if unnamed and shape.names_session:
                break
            leaf = copy_leaf()
            leaf.update(line[:-1])
            leaves.append(leaf.digest())
            own = stated
        self._last = shape
        return leaves, own
