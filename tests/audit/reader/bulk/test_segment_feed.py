"""One segment, with the place of each thing that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amplifier_audit import parallel
from amplifier_audit.line_verifier import LineVerifier
from amplifier_audit.parallel import STEP, Contradiction, SegmentFeed
from amplifier_audit.quick_lines import Shapes
from amplifier_audit.record import Head
from amplifier_audit.report import Mismatch
from amplifier_audit.strict_json import RECORD_LIMIT
from tests.audit.support import feed_lines, make_lines

LINES = make_lines(400)
SHAPES = Shapes()


def make_feed(path: Path, content: bytes, acknowledged: Head | None = None) -> SegmentFeed:
    """Of a segment that holds this."""
    path = path / "segment"
    path.write_bytes(content)
    return SegmentFeed(LineVerifier(), path, 0, SHAPES, acknowledged)


def test_a_segment_is_read_to_its_end(tmp_path: Path) -> None:
    """The verifier has seen all of it."""
    feed = make_feed(tmp_path, b"".join(LINES))
    feed.run()
    assert feed.end == sum(map(len, LINES))
    assert feed.verifier.head == feed_lines(LINES).head


def test_a_segment_is_read_from_the_middle(tmp_path: Path) -> None:
    """As a verification goes on from a saved position."""
    feed = make_feed(tmp_path, b"".join(LINES))
    feed.end = sum(map(len, LINES[:150]))
    before = feed_lines(LINES[:150])
    feed.verifier = LineVerifier(start=before.head, log=before.log)
    feed.run()
    assert feed.end == sum(map(len, LINES))
    assert feed.verifier.head == feed_lines(LINES).head


@pytest.mark.parametrize("place", [0, 1, 5, 52, 200, 399])
def test_a_wrong_line_is_named_with_its_place(tmp_path: Path, place: int) -> None:
    """Wherever it is: among those that are taken at once, too."""
    wrong = LINES[place].replace(b'"time":"2', b'"time":"3')
    feed = make_feed(tmp_path, b"".join([*LINES[:place], wrong, *LINES[place + 1 :]]))
    with pytest.raises(Mismatch) as caught:
        feed.run()
    assert caught.value.finding.sequence == place
    assert (feed.end, feed.line) == (sum(map(len, LINES[:place])), wrong)


@pytest.mark.parametrize("rest", [b"x", b"{", LINES[300][:-1], b"x" * RECORD_LIMIT + b"y\n" * 9])
def test_what_is_no_whole_line_is_named_too(tmp_path: Path, rest: bytes) -> None:
    """As far as a line may be long."""
    feed = make_feed(tmp_path, b"".join(LINES[:300]) + rest)
    with pytest.raises(Mismatch):
        feed.run()
    assert (feed.end, feed.line) == (sum(map(len, LINES[:300])), rest[: RECORD_LIMIT + 1])


@pytest.mark.parametrize("size", [1, 2, 52, 200, 400])
def test_another_history_than_the_acknowledged_one_is_found(tmp_path: Path, size: int) -> None:
    """At the very record."""
    head = feed_lines(LINES[:size]).head
    make_feed(tmp_path, b"".join(LINES), head).run()
    feed = make_feed(tmp_path, b"".join(LINES), Head(size, "f" * 64, head.frontier))
    with pytest.raises(Contradiction) as caught:
        feed.run()
    assert (caught.value.finding.kind, caught.value.finding.sequence) == ("fork", size)
    assert feed.end == sum(map(len, LINES[: size - 1]))


def test_the_progress_is_told_now_and_then(tmp_path: Path) -> None:
    """Where the reading is."""
    lines = make_lines(2 * STEP + 100)
    told: list[int] = []
    feed = make_feed(tmp_path, b"".join(lines))
    feed.progress = told.append
    feed.run()
    assert told == [sum(map(len, lines[: n * STEP])) for n in (1, 2)]


def test_lines_that_come_while_it_reads_are_read_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer goes on, and the end of the file is not where it was."""

    def read_first(path: Path, offset: int) -> Iterator[list[bytes]]:
        yield LINES[:300]

    monkeypatch.setattr(parallel, "read_batches", read_first)
    feed = make_feed(tmp_path, b"".join(LINES))
    feed.run()
    assert feed.end == sum(map(len, LINES))
    assert feed.verifier.head == feed_lines(LINES).head
