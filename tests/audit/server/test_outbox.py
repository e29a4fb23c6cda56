"""What waits for the writer, and what waits for its word."""

from __future__ import annotations

import pytest

from amplifier_audit.errors import AuditUnavailable
from amplifier_audit.remote_log import CHUNK, Outbox


def fill(count: int) -> Outbox:
    outbox = Outbox(1 << 20)
    for number in range(count):
        outbox.add(b"%d\n" % number)
    return outbox


@pytest.mark.parametrize("have", [0, 5])
def test_a_writer_that_has_less_than_it_said_or_more_than_there_is_is_refused(have: int) -> None:
    """It is not the one that acknowledged."""
    outbox = fill(4)
    outbox.take()
    outbox.acknowledge(1)
    assert not outbox.restart(have)


def test_large_things_go_piece_by_piece_and_only_so_much_may_wait() -> None:
    """Memory is not endless."""
    outbox = Outbox(3 * CHUNK)
    for _ in range(4):
        outbox.add(b"x" * CHUNK)
    with pytest.raises(AuditUnavailable, match="too slow"):
        outbox.add(b"x")
    assert len(outbox.take()) == CHUNK
