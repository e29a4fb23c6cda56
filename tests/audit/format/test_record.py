"""The line of a record: its members, what its hash covers, and what the parser refuses."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.record import (
    GENESIS,
    LABEL,
    MEMBERS,
    TAIL,
    Chain,
    hash_record,
    make_line_start,
    parse_inner,
    parse_record,
    read_claimed_hash,
)
from amplifier_audit.strict_json import RECORD_LIMIT
from tests.audit.support import LineCollector, make_lines, make_source


def make_line(**changes: object) -> bytes:
    """A line with other members; its hash is not right, the parser does not look at it."""
    record = {**json.loads(make_lines(3)[2]), **changes}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def cut_inner(line: bytes) -> bytes:
    """The part of a line from `time` to `body`."""
    return line[line.index(b'"time"') : line.index(b',"prev"')]


def test_a_record_has_exactly_these_members_in_this_order() -> None:
    """All of them, always, in the order that the documentation gives."""
    sink = LineCollector()
    sink.append("dispatch", {"a": 1}, session="s", turn=2, event="e", hook="h", registration=3)
    (record,) = sink.records
    assert tuple(record) == MEMBERS
    assert {name: record[name] for name in MEMBERS[5:12]} == {
        "session": "s",
        "turn": 2,
        "event": "e",
        "hook": "h",
        "registration": 3,
        "type": "dispatch",
        "body": {"a": 1},
    }
    assert (record["v"], record["seq"], record["prev"]) == (1, 0, GENESIS)


def test_the_hash_covers_the_exact_bytes_before_it() -> None:
    """A label and everything up to the comma before the hash, as it stands in the file."""
    line = make_lines(1)[0]
    covered = line[: line.rindex(b',"hash"')]
    assert line[:-TAIL] == covered
    expected = hashlib.sha256(LABEL + covered).hexdigest()
    assert read_claimed_hash(line) == expected == hash_record(covered)


@pytest.mark.parametrize("line", [b"", b"\n", b"x" * 200 + b"\n", make_lines(1)[0][:-1]])
def test_a_line_that_does_not_end_like_a_record_claims_no_hash(line: bytes) -> None:
    """So that a message can tell an edited record from something that never was one."""
    assert read_claimed_hash(line) is None


def test_a_value_that_holds_a_complete_record_stays_a_value() -> None:
    """Nothing that a model or a tool writes can begin a line of its own."""
    forged = "\r\n" + make_lines(1)[0].decode() + "\0\ufeff"
    sink = LineCollector()
    sink.append("user_message", {"text": forged}, session=forged[:200], hook="\x1b[2K")
    (record,) = sink.records
    assert record["body"]["text"] == forged
    assert record["hook"] == "\x1b[2K"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"[]\n", "members"),
        (b"1\n", "members"),
        (b'{"a":1}\n', "members"),
        (make_line(extra=1), "members"),
        (b"\n", "not JSON"),
        (b'{"a":1}', "no line break"),
        (b"", "no line break"),
        (make_line() + make_line(), "printable"),
        (b"x" * (RECORD_LIMIT + 1), "bytes"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_not_one_record_on_one_line_is_refused(line: bytes, word: str) -> None:
    """Other members, none, two records, half of one, too long a line."""
    with pytest.raises(MalformedRecord, match=word):
        parse_record(line)


def test_members_in_another_order_are_refused() -> None:
    """There is one way to write a record."""
    record = json.loads(make_line())
    line = json.dumps(dict(reversed(record.items()))).encode() + b"\n"
    with pytest.raises(MalformedRecord, match="in their order"):
        parse_record(line)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"v": 2}, "version"),
        ({"v": True}, "version"),
        ({"v": 1.0}, "version"),
        ({"seq": -1}, "sequence"),
        ({"seq": "1"}, "sequence"),
        ({"seq": True}, "sequence"),
        ({"body": []}, "sequence or body"),
        ({"log": None}, "text"),
        ({"time": 1}, "text"),
        ({"type": 1}, "text"),
        ({"prev": 1}, "text"),
        ({"hash": None}, "text"),
    ],
)
def test_members_of_the_wrong_type_are_refused(changes: dict[str, object], word: str) -> None:
    """A reader may rely on the types of what it gets; True is no number."""
    with pytest.raises(MalformedRecord) as error:
        parse_record(make_line(**changes))
    assert word in str(error.value)


def test_escaped_pairs_digits_and_other_spellings_of_a_legal_record_are_read() -> None:
    """Strict is not narrow: legal JSON is taken."""
    assert parse_record(make_line(body={"a": "😀", "b": "12345678901234567890", "c": 1e3}))
    assert parse_record(make_line(body={"a": 1234567890123456}))["body"]["a"] == 1234567890123456
    spaced = make_line().replace(b'{"v":1,', b'{"v": 1, ')
    assert parse_record(spaced)["v"] == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_refused(content: bytes) -> None:
    """No other exception escapes."""
    with pytest.raises(MalformedRecord):
        parse_record(content + b"\n")


def test_the_inner_members_are_read_as_the_whole_line_is() -> None:
    """A verifier that has compared the rest as bytes gets the same values."""
    for line in make_lines(5):
        record = parse_record(line)
        inner = parse_inner(cut_inner(line))
        assert inner == {name: record[name] for name in MEMBERS[3:-2]}
        assert tuple(inner) == MEMBERS[3:-2]


@pytest.mark.parametrize(
    ("changes", "word"),
    [({"body": 1}, "body"), ({"time": 1}, "text"), ({"type": None}, "text")],
)
def test_inner_members_of_the_wrong_type_are_refused(changes: dict[str, object], word: str) -> None:
    """The quick way is as strict as the slow one."""
    with pytest.raises(MalformedRecord, match=word):
        parse_inner(cut_inner(make_line(**changes)))


@pytest.mark.parametrize("content", [b"", b'"time":"x"', b'"body":{}', b'"time":"x"}', b"{}"])
def test_inner_members_that_are_not_all_there_are_refused(content: bytes) -> None:
    """Nor can anything be slipped in between the known ends of a line."""
    with pytest.raises(MalformedRecord):
        parse_inner(content)


@pytest.mark.parametrize("log", ["a" * 32, 'a "quoted" \\ name', "h\u00e9llo"])
def test_every_line_of_a_log_begins_alike(log: str) -> None:
    """As its writer begins them, if its name is plain."""
    assert make_line_start(log) == f'{{"v":1,"log":{json.dumps(log)},"seq":'.encode("ascii")
    if log.isalnum() and log.isascii():
        assert Chain(log).extend(make_source(), b"{}").startswith(make_line_start(log) + b"0,")
