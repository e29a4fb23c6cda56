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


def test_everything_is_handed_out_once_and_kept_until_it_is_acknowledged() -> None:
    """In its order."""
    outbox = fill(3)
    assert outbox.take() == b"0\n1\n2\n"
    assert outbox.take() == b""
    assert (outbox.waiting, outbox.durable) == (3, 0)
    outbox.acknowledge(2)
    assert (outbox.waiting, outbox.durable) == (1, 2)
    outbox.add(b"3\n")
    assert outbox.take() == b"3\n"


def test_what_was_not_sent_cannot_be_acknowledged() -> None:
    """A writer that says so is wrong."""
    outbox = fill(3)
    outbox.acknowledge(3)
    assert outbox.durable == 0


@pytest.mark.parametrize(("have", "rest"), [(1, b"1\n2\n3\n"), (3, b"3\n"), (4, b"")])
def test_after_a_break_it_goes_on_where_the_writer_stands(have: int, rest: bytes) -> None:
    """What the writer has is not sent again, also if its word was lost."""
    outbox = fill(4)
    outbox.take()
    outbox.acknowledge(1)
    assert outbox.restart(have)
    assert (outbox.durable, outbox.take()) == (have, rest)


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
