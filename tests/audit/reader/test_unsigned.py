"""How many records may come without a signature."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_audit.line_verifier import DEFAULT_INTERVAL, Unsigned
from amplifier_audit.own_records import OWN_TYPES


def test_as_many_as_promised_may_come_and_not_one_more() -> None:
    """And a signature begins the count anew."""
    unsigned = Unsigned()
    unsigned.promise(3, first=True)
    for left in (2, 1, 0):
        unsigned.count("dispatch")
        assert (unsigned.left, unsigned.too_many) == (left, False)
    unsigned.count("dispatch")
    assert unsigned.too_many
    unsigned.restart()
    assert (unsigned.left, unsigned.too_many) == (3, False)


@pytest.mark.parametrize("kind", sorted(OWN_TYPES))
def test_the_records_of_the_log_itself_count_apart(kind: str) -> None:
    """A crash or a removal may add some at any time; yet not without end."""
    unsigned = Unsigned()
    unsigned.promise(1, first=True)
    for _ in range(DEFAULT_INTERVAL):
        unsigned.count(kind)
    assert (unsigned.left, unsigned.too_many) == (1, False)
    unsigned.count(kind)
    assert unsigned.too_many


def test_a_shorter_interval_counts_from_the_next_signature_on() -> None:
    """What the writer before left unsigned stands before it."""
    unsigned = Unsigned()
    unsigned.promise(100, first=True)
    unsigned.promise(10, first=False)
    assert unsigned.left == 100
    unsigned.restart()
    assert unsigned.left == 10
    unsigned.promise(20, first=False)
    assert unsigned.left == 20


@pytest.mark.parametrize("interval", [0, -1, None, "5", 2.0, [3]])
def test_what_is_no_interval_changes_nothing(interval: Any) -> None:
    """Whoever can write the files can write anything there."""
    unsigned = Unsigned()
    unsigned.promise(interval, first=True)
    assert unsigned == Unsigned()


def test_no_promise_is_longer_than_the_default() -> None:
    """Else a forged one would allow any number."""
    unsigned = Unsigned()
    unsigned.promise(10**6, first=True)
    assert unsigned.left == DEFAULT_INTERVAL
