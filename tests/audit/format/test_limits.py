"""How much goes into a record: the limits must fit together."""

from __future__ import annotations

import pytest

from amplifier_audit.encoding import encode, encode_body, encode_source
from amplifier_audit.record import Chain, Head, parse_record
from amplifier_audit.strict_json import (
    BODY_LIMIT,
    KEY_LIMIT,
    NARROW,
    RECORD_LIMIT,
    SAFE_INTEGER,
    SOURCE_LIMIT,
    WIDE,
)
from tests.audit.support import LineCollector, verify_lines


def test_the_longest_line_that_can_be_written_can_be_read() -> None:
    """The largest body, the longest source, the highest numbers: still one record."""
    size = SAFE_INTEGER - 1
    chain = Chain("f" * 32, Head(size, "0" * 64, (bytes(32),) * size.bit_count()))
    name = "x" * KEY_LIMIT
    source = encode_source(name, name, SAFE_INTEGER, name, name, SAFE_INTEGER)
    body = b'{"a":"%b"}' % (b"x" * (BODY_LIMIT - 8))
    source += b" " * (SOURCE_LIMIT - len(source))
    line = chain.extend(source, body)
    assert len(body) == BODY_LIMIT
    assert len(line) <= RECORD_LIMIT
    assert parse_record(line)["seq"] == size


LONG = "\U0001f600" * KEY_LIMIT
DEEP = {f"k{n}": [LONG] * 9 for n in range(30)}


@pytest.mark.parametrize(
    "source",
    [
        {"session": LONG, "event": LONG, "hook": LONG},
        {"session": LONG * 9, "event": LONG * 9, "hook": LONG * 9, "turn": 10**99},
        {"hook": DEEP},
        {"session": DEEP, "turn": DEEP, "event": DEEP, "hook": DEEP, "registration": DEEP},
    ],
)
@pytest.mark.parametrize("type", ["dispatch", LONG, DEEP], ids=["short", "long", "object"])
def test_no_caller_can_make_a_writer_write_a_line_that_is_too_long(source, type) -> None:
    """Else the trail would be called tampered with, by its own verifier."""
    sink = LineCollector()
    sink.append("log_opened", {})
    sink.append(type, {f"k{n}": "x" * 8000 for n in range(7)}, **source)
    assert max(map(len, sink.lines)) <= RECORD_LIMIT
    assert verify_lines(sink.lines).verdict == "consistent"


def test_what_is_narrowed_is_narrower_in_every_way() -> None:
    """A second try with other limits must have a chance to fit."""
    assert NARROW.text < WIDE.text
    assert NARROW.members < WIDE.members
    assert NARROW.depth < WIDE.depth
    assert NARROW.nodes < WIDE.nodes


def test_a_body_of_ordinary_letters_within_the_wide_limits_is_kept() -> None:
    """A text of the largest size that is not cut leaves room for several others."""
    body = {f"k{n}": "x" * WIDE.text for n in range(7)}
    assert encode_body(body) == encode(body)
