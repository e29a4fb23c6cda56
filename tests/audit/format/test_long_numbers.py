"""Integers that the strict parser refuses are found in the JSON, wherever they stand."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.encoding import load_dump, may_have_long_number
from amplifier_audit.errors import MalformedRecord
from amplifier_audit.strict_json import SAFE_INTEGER, read_json

NUMBERS = st.integers() | st.integers(SAFE_INTEGER - 9, SAFE_INTEGER + 9).flatmap(
    lambda number: st.sampled_from([number, -number])
)
LEAVES = NUMBERS | st.floats(allow_nan=False, allow_infinity=False) | st.text() | st.booleans()
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_no_integer_that_the_parser_refuses_is_overlooked(body: Any, plain: bool) -> None:
    """Wherever it stands, whichever sign it has, by either encoder."""
    encoder = json.JSONEncoder(separators=(",", ":"))
    text = encoder.encode(body).encode() if plain else load_dump()(body)
    try:
        read_json(text.replace(b"\x7f", b""))
    except MalformedRecord as error:
        if "beyond 2^53" in str(error):
            assert may_have_long_number(text)


@given(st.integers(SAFE_INTEGER + 1), st.sampled_from([1, -1]))
def test_each_place_of_a_number_is_looked_at(number: int, sign: int) -> None:
    """Behind a key, first and later in a list, and among many bodies."""
    for body in ({"n": number * sign}, {"n": [number * sign]}, {"n": [1, number * sign]}):
        text = json.dumps(body, separators=(",", ":")).encode()
        assert may_have_long_number(text)
        assert may_have_long_number(b" ".join([b"{}", text, b"{}"]))


def test_a_digest_is_not_taken_for_a_number() -> None:
    """Nearly every tool call writes two, and some begin with many digits."""
    digests = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(200)]
    for digest in (*digests, "0123456789" * 6):
        assert not may_have_long_number(json.dumps({"digest": digest}).encode())


@pytest.mark.parametrize(
    "body", [{"n": 176_344_800_000_000}, {"n": 0.1234567890123456789}, {"n": 1e300}]
)
def test_usual_numbers_need_no_second_look(body: Any) -> None:
    """Times and measures would else cost as much as what is looked for."""
    assert not may_have_long_number(load_dump()(body))
