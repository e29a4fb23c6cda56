"""Integers that the strict parser refuses are found in the JSON, wherever they stand."""

from __future__ import annotations

import hashlib
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_audit.format import long_numbers
from amplifier_audit.format.limits import SAFE_INTEGER
from amplifier_audit.format.long_numbers import may_have_long_number

PIECES = st.text("0123456789", max_size=20) | st.text("0123456789abcdef", max_size=70)


@given(st.lists(PIECES | st.sampled_from([" ", ",", "x"]), max_size=40).map("".join))
def test_no_long_run_of_digits_is_overlooked(letters: str) -> None:
    """Wherever it begins, and whatever looks like one before it."""
    if re.search("[0-9]{16}", letters):
        assert may_have_long_number(letters.encode())


@given(st.lists(PIECES, max_size=3).map("".join))
def test_nothing_else_is_found_in_a_short_text(letters: str) -> None:
    """The guess is looked at again."""
    assert may_have_long_number(letters.encode()) == bool(re.search("[0-9]{16}", letters))


@given(st.integers() | st.integers(SAFE_INTEGER - 9, SAFE_INTEGER + 9), st.text(max_size=9))
def test_no_integer_beyond_the_safe_ones_is_overlooked(number: int, before: str) -> None:
    """Whichever sign it has."""
    text = json.dumps({"before": before, "number": number, "after": [number]}).encode()
    if abs(number) > SAFE_INTEGER:
        assert may_have_long_number(text)


def test_a_digest_is_not_taken_for_a_number() -> None:
    """Nearly every tool call writes two; a guess that holds for them would be of no use."""
    digests = [hashlib.sha256(b"%d" % n).hexdigest() for n in range(200)]
    texts = [json.dumps({"digest": digest}).encode() for digest in digests]
    guesses = [long_numbers._GUESS in t[::4].translate(long_numbers._DIGITS) for t in texts]
    assert sum(guesses) > 40
    assert sum(map(may_have_long_number, texts)) < 10


@pytest.mark.parametrize("count", [1000, 100_000])
def test_one_who_writes_for_the_guess_gains_no_long_look(
    count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then a number is said to be there, and the careful way finds out."""
    looks: list[int] = []
    real = long_numbers._find_run

    def count_looks(text: bytes, start: int, end: int) -> object:
        looks.append(start)
        return real(text, start, end)

    monkeypatch.setattr(long_numbers, "_find_run", count_looks)
    assert may_have_long_number(b"1abc" * count)
    assert len(looks) == long_numbers._GUESSES
