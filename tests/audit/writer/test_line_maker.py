"""Lines in the order of their sequences, and what the log says of itself in its turn."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import encode_body_now
from amplifier_audit.line_maker import (
    SLICE,
    DueCheckpoint,
    DueOpening,
    DueSegment,
    LineMaker,
    NewSegment,
    Work,
)
from amplifier_audit.record import Head, Waiting, parse_record
from amplifier_audit.recovery import Opening
from amplifier_audit.settings import AuditSettings
from tests.audit.support import SIGNER, VERIFIER, feed_lines, make_source, verify_lines

CLOCK = itertools.count(10**18, 1000)


def make_maker() -> LineMaker:
    return LineMaker(Opening("ab", Head(), 0, 100), AuditSettings(), SIGNER, "name")


def make_records(count: int, body: object = None) -> list[Waiting]:
    text = encode_body_now({"body": body})
    return [(make_source(), text, next(CLOCK), next(CLOCK)) for _ in range(count)]


def ask_for(type: str = "checkpoint") -> DueCheckpoint:
    return DueCheckpoint(make_source(type), next(CLOCK), next(CLOCK))


def open_segment(number: int) -> DueOpening:
    return DueOpening(make_source("log_opened"), next(CLOCK), next(CLOCK), number)


def take_lines(maker: LineMaker) -> list[bytes]:
    return [item for item in maker.take()[0] if isinstance(item, bytes)]


def test_a_checkpoint_is_made_in_its_turn_and_handed_to_whoever_asked() -> None:
    """It covers what came before its place, whatever waits behind it."""
    maker, first, second = make_maker(), ask_for(), ask_for()
    maker.make([make_records(3), first, make_records(2), second])
    assert first.note is not None
    assert second.note is not None
    assert (first.note.checkpoint.size, second.note.checkpoint.size) == (3, 6)
    assert second.note.is_signed_by(VERIFIER)
    items, notes = maker.take()
    assert notes == [first.note, second.note]
    assert maker.newest == second.note
    assert len(items) == maker.head.size == 7
    assert maker.take() == ([], [])


def test_the_size_of_a_segment_is_that_of_its_lines() -> None:
    """With what was in the file before, and anew with each segment."""
    maker = make_maker()
    maker.make([make_records(3), ask_for()])
    assert maker.segment_size == 100 + sum(map(len, take_lines(maker)))
    maker.make([ask_for("sealed"), DueSegment(1), open_segment(1), make_records(2)])
    items, _ = maker.take()
    (place,) = (n for n, item in enumerate(items) if isinstance(item, NewSegment))
    assert maker.segment_size == sum(len(i) for i in items[place + 1 :] if isinstance(i, bytes))


def test_numbers_and_characters_that_were_left_for_later_are_looked_at() -> None:
    """Only in the records that have them, and wherever they stand among others."""
    maker = make_maker()
    odd = make_records(1, [float("nan"), 2**60, "\x7f"])
    maker.make([[*make_records(SLICE + 3, 1), *odd, *make_records(2, 1)]])
    bodies = [parse_record(line)["body"]["body"] for line in take_lines(maker)]
    assert bodies[SLICE + 3] == [{"$float": "nan"}, {"$int": "0x1000000000000000"}, "\x7f"]
    assert bodies[: SLICE + 3] + bodies[SLICE + 4 :] == [1] * (SLICE + 5)


KINDS = st.sampled_from(["records", "many", "none", "checkpoint", "segment"])


@given(st.lists(st.lists(KINDS, max_size=6), max_size=6))
def test_however_the_work_is_cut_the_lines_verify(calls: list[list[str]]) -> None:
    """Over all calls and segments, with every checkpoint and every repeated end."""
    maker, segment = make_maker(), 0
    maker.make([open_segment(0), ask_for()])
    for kinds in calls:
        work: list[Work] = []
        for kind in kinds:
            if kind == "segment":
                segment += 1
                work += [ask_for("sealed"), DueSegment(segment), open_segment(segment)]
            elif kind == "checkpoint":
                work.append(ask_for())
            else:
                work.append(make_records({"records": 3, "many": SLICE + 1, "none": 0}[kind]))
        maker.make(work)
    items, _ = maker.take()
    lines = [item for item in items if isinstance(item, bytes)]
    report = verify_lines(lines, key=VERIFIER)
    assert (report.verdict, report.head) == ("consistent", maker.head)
    for place, item in enumerate(items):
        if isinstance(item, NewSegment):
            before = [line for line in items[:place] if isinstance(line, bytes)]
            feed_lines(before).check_note(item.seal, "the seal")
