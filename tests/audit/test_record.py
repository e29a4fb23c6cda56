"""The line of a record, and the parser that takes nothing else."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.errors import MalformedRecord
from amplifier_audit.format.chain import Chain, Head, NanoClock
from amplifier_audit.format.encoding import encode_body
from amplifier_audit.format.limits import RECORD_LIMIT
from amplifier_audit.format.record import (
    GENESIS,
    LABEL,
    MEMBERS,
    TAIL,
    hash_record,
    parse_record,
    read_claimed_hash,
)
from amplifier_audit.format.tree import Tree
from tests.audit.support import LineCollector, lines_of, source


def line_with(**changes: object) -> bytes:
    """A line with other members; its hash is not right, the parser does not look at it."""
    record = {**json.loads(lines_of(3)[2]), **changes}
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


def test_a_record_has_exactly_these_members_in_this_order() -> None:
    """Members: format version, log id, sequence, times, source, type, body, hashes."""
    sink = LineCollector()
    sink.append("dispatch", {"a": 1}, session="s", turn=2, event="e", hook="h", registration=3)
    (record,) = sink.records
    assert tuple(record) == MEMBERS
    told = {name: record[name] for name in MEMBERS[5:12]}
    assert told == {
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
    """SHA-256 with a domain label over the exact bytes of the line up to that member."""
    import hashlib

    line = lines_of(1)[0]
    covered = line[: line.rindex(b',"hash"')]
    assert line[:-TAIL] == covered
    assert (
        read_claimed_hash(line)
        == hashlib.sha256(LABEL + covered).hexdigest()
        == hash_record(covered)
    )


def test_each_record_names_the_hash_of_the_one_before() -> None:
    """Gapless sequence, hash over exact bytes, previous hash, log id."""
    records = [parse_record(line) for line in lines_of(60)]
    assert [record["seq"] for record in records] == list(range(60))
    assert len({record["log"] for record in records}) == 1
    for before, after in itertools.pairwise(records):
        assert after["prev"] == before["hash"]


def test_the_clock_has_nanoseconds_and_a_zone() -> None:
    """Wall time in UTC with nanoseconds."""
    times = iter([1_000_000_001, 1_999_999_999, 2_000_000_000])
    clock = NanoClock(lambda: next(times))
    assert [clock(), clock(), clock()] == [
        "1970-01-01T00:00:01.000000001Z",
        "1970-01-01T00:00:01.999999999Z",
        "1970-01-01T00:00:02.000000000Z",
    ]


def test_a_value_that_holds_a_complete_record_stays_a_value() -> None:
    """T22: values holding a complete forged record, CR LF, BOM, NUL."""
    forged = "\r\n" + lines_of(1)[0].decode() + "\0\ufeff"
    sink = LineCollector()
    sink.append("user_message", {"text": forged}, session=forged[:200], hook="\x1b[2K")
    (record,) = sink.records
    assert record["body"]["text"] == forged
    assert record["hook"] == "\x1b[2K"


ODD = [
    (b'{"a":1,"a":2}\n', "twice"),
    (b'{"a":{"b":1,"b":1}}\n', "twice"),
    (b'{"a":NaN}\n', "NaN"),
    (b'{"a":-Infinity}\n', "Infinity"),
    (b'{"a":1e999}\n', "out of range"),
    (b'{"a":9007199254740993}\n', "2^53"),
    (b'{"a":-99999999999999999999}\n', "2^53"),
    (b'{"a":"\\ud800"}\n', "surrogate"),
    (b'{"a":1}\r\n', "printable"),
    (b'\xef\xbb\xbf{"a":1}\n', "printable"),
    (b'{"a":"\x00"}\n', "printable"),
    (b'{"a":"\x7f"}\n', "printable"),
    (b'{"a":"\xc3\xa9"}\n', "printable"),
    (b'{"a":1}{}\n', "after the end"),
    (b'{"a":1} \n', "after the end"),
    (b'{"a":1}', "printable"),
    (b"\n", "not JSON"),
    (b"{\n", "not JSON"),
    (b"{1:2}\n", "not JSON"),
    (b"[" * 30_000 + b"\n", "not JSON"),
    (b"[]\n", "members"),
    (b"1\n", "members"),
    (b'{"a":1}\n', "members"),
    (b"x" * (RECORD_LIMIT + 1), "bytes"),
]


@pytest.mark.parametrize(("line", "word"), ODD, ids=[str(n) for n in range(len(ODD))])
def test_the_parser_refuses_what_no_writer_writes(line: bytes, word: str) -> None:
    """Duplicate keys, NaN, infinities, numbers beyond 2^53, lone surrogates, CR, BOM, NUL, …"""
    with pytest.raises(MalformedRecord) as error:
        parse_record(line)
    assert word in str(error.value)


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
        ({"prev": 1}, "text"),
        ({"hash": None}, "text"),
    ],
)
def test_members_of_the_wrong_type_are_refused(changes: dict[str, object], word: str) -> None:
    """The parser refuses everything that no writer writes."""
    with pytest.raises(MalformedRecord) as error:
        parse_record(line_with(**changes))
    assert word in str(error.value)


def test_escaped_pairs_digits_and_other_spellings_of_a_legal_record_are_read() -> None:
    """Strict is not narrow: legal JSON is taken."""
    assert parse_record(line_with(body={"a": "😀", "b": "12345678901234567890", "c": 1e3}))
    assert parse_record(line_with(body={"a": 1234567890123456}))["body"]["a"] == 1234567890123456
    spaced = line_with().replace(b'{"v":1,', b'{"v": 1, ')
    assert parse_record(spaced)["v"] == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_a_record_or_refused(content: bytes) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(MalformedRecord):
        parse_record(content + b"\n")


def test_a_head_goes_on_where_the_chain_was() -> None:
    """Everything that is needed to go on after so many records."""
    chain = Chain("ab")
    for _ in range(11):
        chain.extend(source(), encode_body({}))
    copy = Chain("ab", Head.from_dict(json.loads(json.dumps(chain.head.to_dict()))))
    assert copy.head == chain.head
    assert copy.head.compute_root() == chain.tree.compute_root()


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"size": 1, "hash": "", "frontier": []},
        {"size": 1, "hash": "", "frontier": ["zz"]},
        {"size": "x", "hash": "", "frontier": []},
        {"size": 0, "hash": "", "frontier": None},
    ],
)
def test_what_is_no_head_is_refused(data: dict[str, object]) -> None:
    """Bad input gets a clear sentence."""
    with pytest.raises(ValueError):
        Head.from_dict(data)


def test_a_frontier_must_fit_its_size() -> None:
    """One complete subtree for each 1 in the binary form of the size."""
    with pytest.raises(ValueError, match="3 leaves has 2"):
        Tree(3, [b""])
