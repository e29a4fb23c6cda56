"""Trying again."""

from __future__ import annotations

import pytest

from amplifier_hooks.approvals import http_connection
from amplifier_hooks.approvals.errors import Conflict, StoreUnavailable, TooMany
from amplifier_hooks.approvals.http_connection import persist


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


@pytest.fixture(autouse=True)
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "FIRST_PAUSE", 0.0001)


async def test_a_server_that_comes_back_is_asked_again():
    """Retries on connection failure with backoff."""
    attempts = Attempts(StoreUnavailable("1"), TooMany("2"), StoreUnavailable("3"))
    assert await persist(attempts, 60) == "done"
    assert attempts.count == 4


async def test_when_the_time_is_over_the_failure_is_told():
    """Until the deadline, and no longer."""
    attempts = Attempts(*[StoreUnavailable("gone")] * 1000)
    with pytest.raises(StoreUnavailable, match="gone"):
        await persist(attempts, 0.05)
    assert 1 < attempts.count < 1000
    with pytest.raises(StoreUnavailable):
        await persist(Attempts(StoreUnavailable("gone")), 0.0)


async def test_an_answer_is_an_answer():
    """A refusal is not asked again."""
    attempts = Attempts(Conflict("late"))
    with pytest.raises(Conflict):
        await persist(attempts, 60)
    assert attempts.count == 1
