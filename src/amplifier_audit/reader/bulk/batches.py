"""Feeds a verifier with many lines at a time.

Ordinary records that are built like others are checked here, with as few steps as there can be:
each is in its place, links to the one before, has the hash that it states, and has a content that
the strict parser takes. Every other line goes to the verifier itself, which knows all rules and
says what is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

from amplifier_audit.reader.bulk.runs import LINKS, are_in_place, check_links, count_alike
from amplifier_audit.reader.bulk.shapes import NOTHING, Shape, Shapes
from amplifier_audit.reader.line_verifier import LineVerifier

# So many lines are tried at once: few after some that were not all right, then ever more.
FEWEST = 8
MOST = 128


class LineBatches:
    """Takes whole lines, each within the limit."""

    __slots__ = ("_last", "_most", "_shapes", "_verifier")

    def __init__(self, verifier: LineVerifier, shapes: Shapes) -> None:
        self._verifier = verifier
        self._shapes = shapes
        self._last = Shape(NOTHING)
        self._most = MOST

    def take(self, lines: Sequence[bytes], first: int, stop: int) -> int:
        """Check the ordinary lines from `first` on, up to `stop` records; how many they are."""
        start = self._verifier.size
        while self._take_run(lines, first + self._verifier.size - start, stop):
            pass
        return self._verifier.size - start

    def _take_run(self, lines: Sequence[bytes], first: int, stop: int) -> bool:
        """Check some of them; False if there are no more, or one of them is not surely right."""
        verifier, size = self._verifier, self._verifier.size
        # Only sequences of one length: then all contents begin at the same byte.
        most = min(self._most, verifier.count_ordinary(), stop - size, count_alike(size))
        run = lines[first : first + max(most, 0)]
        if verifier.log is None or not run:
            return False
        fitting = self._count_fitting(run)
        taken = self._check(run[:fitting]) if fitting else 0
        whole = taken == len(run)
        self._most = min(2 * self._most, MOST) if whole else max(2 * taken, FEWEST)
        return whole

    def feed(self, line: bytes) -> None:
        """Check the next line by all rules; Mismatch if another belongs there."""
        verifier, before = self._verifier, self._verifier.hash
        start = b"%b%d," % (verifier.line_start, verifier.size)
        record = verifier.feed(line)
        end = f',"prev":"{before}","hash":"{verifier.hash}"}}\n'.encode()
        if line.startswith(start) and line.endswith(end):
            self._shapes.learn(line[len(start) : -len(end)], record["type"])

    def _check(self, lines: Sequence[bytes]) -> int:
        """Move the verifier on if all is right around the contents of these lines; how many."""
        verifier = self._verifier
        if not are_in_place(lines, verifier.line_start, verifier.size):
            return 0
        found = check_links(lines, verifier.hash)
        if found is None:
            return 0
        verifier.advance(*found)
        return len(lines)

    def _count_fitting(self, lines: Sequence[bytes]) -> int:
        """How many lines there are up to the first with a content that is not surely right."""
        verifier, skeletons = self._verifier, self._shapes.skeletons
        begin = len(verifier.line_start) + len(str(verifier.size)) + 1
        inner = slice(begin, -LINKS)
        contents = [line[inner] for line in lines]
        # A skeleton does not say whether it names a session, and the first one must not be missed.
        named = verifier.claims.first_session is not None
        for place in skeletons.find_unknown(contents) if named else range(len(lines)):
            if not self._fits_shape(lines[place], begin, named=named):
                return place
            skeletons.learn(contents[place])
        return len(lines)

    def _fits_shape(self, line: bytes, begin: int, *, named: bool) -> bool:
        last, end = self._last, len(line) - LINKS
        if not last.next.fits(line, begin, end):
            found = self._shapes.find(line, begin, end)
            if found is None:
                return False
            last.next = found
        self._last = last.next
        return named or not self._last.names_session
