"""The process at the other end of a socket."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

import pytest

from amplifier_audit.parallel import SegmentTask, VerifiedSegment, serve
from amplifier_audit.record import Head
from tests.audit.support import feed_lines, make_lines

LINES = make_lines(1100)


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connection[Any, Any]]:
    """One that runs in a thread, where no signal can be set; it ends with the connection."""
    told: list[Any] = []
    monkeypatch.setattr(signal, "signal", lambda *given: told.append(given))
    ours, theirs = Pipe()
    descriptor = theirs.fileno()
    thread = threading.Thread(target=serve, args=[descriptor])
    thread.start()
    with ours:
        yield ours
    thread.join(10)
    assert not thread.is_alive()
    assert told == [(signal.SIGINT, signal.SIG_IGN)]
    theirs._handle = None  # type: ignore[attr-defined] # the worker has closed it


def test_it_tells_how_far_it_is_and_what_it_found(
    worker: Connection[Any, Any], tmp_path: Path
) -> None:
    """One task after the other."""
    path = tmp_path / "segment"
    for content, right in ((b"".join(LINES), True), (b"x\n", False), (b"".join(LINES), True)):
        path.write_bytes(content)
        worker.send(SegmentTask(path, Head(), None))
        message = worker.recv()
        if right:
            assert message == sum(map(len, LINES[:1024]))
            message = worker.recv()
            assert isinstance(message, VerifiedSegment)
            assert (message.end, message.verifier.head) == (len(content), feed_lines(LINES).head)
        else:
            assert message is None


def test_it_ends_while_it_works(worker: Connection[Any, Any], tmp_path: Path) -> None:
    """Nobody hears how far it is."""
    path = tmp_path / "segment"
    path.write_bytes(b"".join(LINES))
    worker.send(SegmentTask(path, Head(), None))
    worker.close()
