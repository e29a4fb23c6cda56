"""How many records may come without a signature."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_audit.line_verifier import DEFAULT_INTERVAL, Unsigned


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
