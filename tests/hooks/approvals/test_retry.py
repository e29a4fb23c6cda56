"""Trying again."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import Conflict, StoreUnavailable, TooMany
from amplifier_hooks.approvals.retry import generate_pauses, retry


class Attempts:
    """Fails with each of these, then succeeds."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.count = 0

    async def __call__(self) -> str:
        self.count += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"


async def test_what_comes_back_is_asked_again_and_each_failure_is_told():
    """Retries on connection failure with backoff."""
    first, last = StoreUnavailable("1"), TooMany("2")
    attempts, told = Attempts(first, last), []

    async def tell(error: Exception) -> None:
        told.append(error)

    errors = (StoreUnavailable, TooMany)
    done = await retry(attempts, 60, errors=errors, longest=0.001, on_failure=tell)
    assert (done, attempts.count, told) == ("done", 3, [first, last])


async def test_when_the_time_is_over_the_failure_is_raised():
    """Until the deadline, and no longer."""
    attempts = Attempts(*[StoreUnavailable("gone")] * 1000)
    with pytest.raises(StoreUnavailable, match="gone"):
        await retry(attempts, 0.05, longest=0.001)
    assert 1 < attempts.count < 1000
    with pytest.raises(StoreUnavailable):
        await retry(Attempts(StoreUnavailable("gone")), 0.0)


async def test_an_answer_is_an_answer():
    """A refusal is not asked again."""
    attempts = Attempts(Conflict("late"))
    with pytest.raises(Conflict):
        await retry(attempts, 60)
    assert attempts.count == 1


def test_pauses_double_up_to_the_longest():
    """Each is shortened by up to a half, by chance, so that not all come at the same moment."""
    pauses = generate_pauses(1.0, 5.0)
    for whole in (1.0, 2.0, 4.0, 5.0, 5.0):
        assert whole / 2 <= next(pauses) <= whole
