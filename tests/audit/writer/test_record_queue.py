"""The records that have their place in the chain and wait to be written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit import line_maker
from amplifier_audit.encoding import encode_body
from amplifier_audit.line_maker import NewSegment, RecordQueue, commit_to
from amplifier_audit.own_records import ValueRedacted
from amplifier_audit.record import Head, Record, parse_record
from amplifier_audit.recovery import Opening
from amplifier_audit.settings import AuditSettings
from tests.audit.support import (
    SIGNER,
    VERIFIER,
    feed_lines,
    make_lines,
    make_source,
    verify_lines,
)


def make_queue(
    settings: AuditSettings | None = None,
    opening: Opening | None = None,
    signer: Any = None,
    segments: tuple[int, ...] = (),
) -> RecordQueue:
    return RecordQueue(
        opening or Opening("ab", Head(), 0, 0),
        settings or AuditSettings(),
        signer,
        lambda: list(segments),
    )


def add(queue: RecordQueue, count: int = 1) -> None:
    for _ in range(count):
        queue.add(make_source(), encode_body({"text": "x" * 20}))


def read_records(items: list[bytes | NewSegment]) -> list[Record]:
    return [parse_record(item) for item in items if isinstance(item, bytes)]


def test_records_wait_in_the_order_of_the_chain_until_they_are_taken() -> None:
    """Each call says which sequence it gave; taking leaves nothing."""
    queue = make_queue()
    assert not queue
    assert [queue.add(make_source(), encode_body({})) for _ in range(3)] == [0, 1, 2]
    assert queue
    batch = queue.take()
    assert [record["seq"] for record in read_records(batch.items)] == [0, 1, 2]
    assert batch.head.size == queue.size == 3
    assert not queue
    assert queue.take().items == []


def test_the_bytes_that_wait_are_counted() -> None:
    """So that a slow disk cannot fill the memory."""
    queue = make_queue()
    add(queue, 3)
    waiting = queue.waiting_bytes
    assert waiting == sum(len(item) for item in queue.take().items if isinstance(item, bytes))
    assert queue.waiting_bytes == 0


def test_values_go_with_the_records_that_name_them() -> None:
    """They are written in the same batch."""
    queue, values = make_queue(), [commit_to("one"), commit_to("two")]
    queue.add(make_source(), encode_body({}), values)
    assert queue.take().values == values
    assert queue.take().values == []


def test_a_checkpoint_covers_everything_before_it() -> None:
    """It is signed, it is the newest, and it goes to the anchors with its batch."""
    queue = make_queue(signer=SIGNER)
    add(queue, 4)
    assert queue.since_checkpoint == 4
    due = queue.add_checkpoint()
    assert queue.since_checkpoint == 0
    batch = queue.take()
    note = due.note
    assert note is not None
    assert note.checkpoint.size == 4
    assert note.is_signed_by(VERIFIER)
    assert (batch.notes, batch.newest, queue.newest) == ([note], note, note)
    assert read_records(batch.items)[-1]["body"] == {"note": note.text}
    assert queue.take().notes == []
    assert queue.take().newest == note


def test_a_checkpoint_is_due_after_so_many_records() -> None:
    """Not one before, and then counting begins anew."""
    queue = make_queue(AuditSettings(checkpoint_every=3))
    for expected in (0, 0, 1, 0, 0, 1):
        add(queue)
        types = [record["type"] for record in read_records(queue.take().items)]
        assert types.count("checkpoint") == expected


def test_a_checkpoint_that_is_asked_for_covers_its_record_and_comes_once() -> None:
    """Also when one would have been due."""
    queue = make_queue(AuditSettings(checkpoint_every=2))
    for _ in range(2):
        queue.add(make_source("session_ended"), encode_body({}), checkpoint=True)
    types = [record["type"] for record in read_records(queue.take().items)]
    assert types == ["session_ended", "checkpoint"] * 2


def test_the_opening_says_who_writes_and_how() -> None:
    """What a verifier and a reader want to know first."""
    settings = AuditSettings(level="full", values="committed", checkpoint_every=7)
    queue = make_queue(settings, signer=SIGNER)
    queue.add_opening()
    (record,) = read_records(queue.take().items)
    assert record["type"] == "log_opened"
    assert record["body"] == {
        "name": None,
        "segment": 0,
        "process": os.getpid(),
        "level": "full",
        "values": "committed",
        "checkpoint_every": 7,
        "key": SIGNER.public,
    }


def test_a_log_that_is_continued_repeats_its_end() -> None:
    """So that a segment can be verified when those before it are gone."""
    lines = make_lines(11)
    head = feed_lines(lines).head
    queue = make_queue(opening=Opening(parse_record(lines[0])["log"], head, 2, 500))
    queue.add_opening()
    (line,) = queue.take().items
    assert isinstance(line, bytes)
    record = parse_record(line)
    assert record["seq"] == 11
    expected = {**head.to_dict(), "root": head.compute_root().hex()}
    assert (record["body"]["previous"], record["body"]["segment"]) == (expected, 2)
    assert verify_lines([*lines, line]).verdict == "consistent"


def test_a_full_segment_is_sealed_and_the_next_begins() -> None:
    """The seal beside it covers the record `sealed` too, which the note inside it cannot."""
    queue = make_queue(AuditSettings(segment_bytes=2000))
    items: list[bytes | NewSegment] = []
    while not any(isinstance(item, NewSegment) for item in items):
        add(queue)
        items += queue.take().items
    (place,) = (n for n, item in enumerate(items) if isinstance(item, NewSegment))
    new = items[place]
    assert isinstance(new, NewSegment)
    before = read_records(items[:place])
    assert before[-1]["type"] == "sealed"
    assert (new.number, new.seal.checkpoint.size) == (1, before[-1]["seq"] + 1)
    (after,) = read_records(items[place + 1 :])
    assert after["type"] == "log_opened"
    assert after["body"]["previous"]["size"] == new.seal.checkpoint.size
    assert after["body"]["segment"] == 1
    add(queue)
    assert not any(isinstance(item, NewSegment) for item in queue.take().items)


def test_a_segment_that_is_continued_counts_what_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size in the file is part of its size."""
    queue = make_queue(AuditSettings(segment_bytes=2000), Opening("ab", Head(), 0, 1990))
    add(queue)
    assert sum(isinstance(item, NewSegment) for item in queue.take().items) == 1


@pytest.mark.parametrize("daily", [True, False])
def test_a_new_day_begins_a_new_segment_once(monkeypatch: pytest.MonkeyPatch, daily: bool) -> None:
    """Unless somebody does not want that."""
    monkeypatch.setattr(line_maker, "time", lambda: 86399.0)
    queue = make_queue(AuditSettings(daily=daily))
    queue.rotate_if_new_day()
    assert not queue
    monkeypatch.setattr(line_maker, "time", lambda: 86400.0)
    queue.rotate_if_new_day()
    queue.rotate_if_new_day()
    assert sum(isinstance(item, NewSegment) for item in queue.take().items) == daily


def test_segments_beyond_retention_are_removed_on_record() -> None:
    """Those that are kept are sealed ones, besides the one that is written."""
    settings = AuditSettings(segment_bytes=1, retain_segments=2)
    queue = make_queue(settings, Opening("ab", Head(), 4, 5), segments=(1, 2, 3, 4))
    add(queue)
    batch = queue.take()
    assert batch.removed == [1, 2]
    told = [r["body"] for r in read_records(batch.items) if r["type"] == "segment_removed"]
    assert told == [{"segment": 1}, {"segment": 2}]
    # Signed before anything is removed: else anybody could say that it was meant.
    assert read_records(batch.items)[-1]["type"] == "checkpoint"
    assert queue.take().removed == []


def test_many_removals_at_once_do_not_hold_up_the_next_signature() -> None:
    """Whoever turns retention on has a thousand segments to remove."""
    settings = AuditSettings(segment_bytes=1, retain_segments=1, checkpoint_every=100)
    queue = make_queue(settings, Opening("ab", Head(), 2000, 5), SIGNER, tuple(range(2001)))
    add(queue)
    lines = [item for item in queue.take().items if isinstance(item, bytes)]
    assert len(lines) > 2000
    assert verify_lines(lines, key=VERIFIER).verdict == "consistent"


def test_without_retention_nothing_is_removed() -> None:
    """A trail is kept until somebody decides otherwise."""
    queue = make_queue(AuditSettings(segment_bytes=1), segments=(0, 1, 2))
    add(queue)
    assert queue.take().removed == []


OPERATIONS = st.lists(
    st.sampled_from(["add", "ask", "checkpoint", "own", "due", "day", "take"]), max_size=40
)


@given(OPERATIONS)
def test_whatever_the_order_of_calls_the_lines_verify(operations: list[str]) -> None:
    """Over all batches and segments, with every checkpoint and every repeated end."""
    queue = make_queue(AuditSettings(checkpoint_every=4, segment_bytes=1500), signer=SIGNER)
    queue.add_opening()
    queue.add_checkpoint()
    calls: dict[str, Callable[[], Any]] = {
        "add": lambda: add(queue),
        "ask": lambda: queue.add(make_source(), encode_body({}), checkpoint=True),
        "checkpoint": queue.add_checkpoint,
        "own": lambda: queue.add_own(ValueRedacted(commitment="", by="", reason="")),
        "due": queue.add_due_checkpoint,
        "day": queue.rotate_if_new_day,
        "take": lambda: items.extend(queue.take().items),
    }
    items: list[bytes | NewSegment] = []
    for operation in operations:
        calls[operation]()
    batch = queue.take()
    items += batch.items
    lines = [item for item in items if isinstance(item, bytes)]
    report = verify_lines(lines, key=VERIFIER)
    assert (report.verdict, report.head) == ("consistent", batch.head)
    for place, item in enumerate(items):
        if isinstance(item, NewSegment):
            before = [line for line in items[:place] if isinstance(line, bytes)]
            feed_lines(before).check_note(item.seal, "the seal")
            assert json.loads(before[-1])["type"] == "sealed"


def test_after_lines_that_could_not_be_made_no_other_is() -> None:
    """It would have the place of a record that is lost, and acknowledge that one."""

    class FailsOnce:
        name, key_id, public = SIGNER.name, SIGNER.key_id, SIGNER.public

        def __init__(self) -> None:
            self.left = 1

        def sign(self, message: bytes) -> bytes:
            self.left -= 1
            if self.left == 0:
                raise OSError("the key is away")
            return SIGNER.sign(message)

    queue = make_queue(signer=FailsOnce())
    add(queue)
    queue.add_checkpoint()
    add(queue)
    with pytest.raises(OSError, match="the key is away"):
        queue.chain()
    # Before whoever asked can tell that the log has failed, the writer comes to its turn.
    add(queue)
    with pytest.raises(RuntimeError, match="could not be made"):
        queue.take()
