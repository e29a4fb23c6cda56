"""Trying again."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals.errors import StoreUnavailable, TooMany
from amplifier_hooks.approvals.retry import retry


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
