"""What is too large for one request."""

from __future__ import annotations

from amplifier_hooks.approvals.client import BODY, MOST, fit_transcript, split_records
from amplifier_hooks.approvals.models import SessionRecord


def record(number: int, size: int = 10) -> SessionRecord:
    return SessionRecord(number=number, time=0.0, type="t", body={"text": "x" * size})


def test_a_short_transcript_is_sent_as_it_is():
    """And an empty one."""
    assert fit_transcript([]) == []
    assert fit_transcript([{"a": 1}]) == [{"a": 1}]


def test_of_a_long_transcript_the_newest_messages_stay():
    """The first entry says how many were left out."""
    messages = [{"number": number, "text": "x" * 100} for number in range(10)]
    kept = fit_transcript(messages, largest=400)
    assert kept[0] == {"left_out": 10 - len(kept) + 1}
    assert kept[1:] == messages[-len(kept) + 1 :]
    assert len(kept) == 4


def test_records_are_split_by_size_and_by_number_and_stay_in_order():
    """None is lost, and no portion is empty."""
    records = [record(number, 100) for number in range(1, 8)]
    portions = list(split_records(records, largest=500))
    assert [one for portion in portions for one in portion] == records
    assert [len(portion) for portion in portions] == [2, 2, 2, 1]
    many = list(split_records([record(n) for n in range(1, MOST + 2)]))
    assert [len(portion) for portion in many] == [MOST, 1]
    assert list(split_records([])) == []


def test_a_record_that_the_store_would_not_keep_in_full_says_so():
    """It does not hold up the others."""
    (portion,) = split_records([record(1), record(2, BODY), record(3)])
    assert [one.number for one in portion] == [1, 2, 3]
    assert "left_out" in portion[1].body
