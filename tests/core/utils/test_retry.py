"""Calling a model again after a failure that may pass."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.utils import retry


class TestRetrying:
    async def call(self, failures: list[Exception], **settings: Any) -> tuple[Any, list[Any]]:
        seen: list[Any] = []

        async def attempt() -> str:
            if failures:
                raise failures.pop(0)
            return "done"

        async def note(number: int, pause: float, error: Exception) -> None:
            seen.append((number, pause))

        return await retry(attempt, on_retry=note, delay=0.001, **settings), seen

    def failure(self, **facts: Any) -> Exception:
        error = ValueError("x")
        vars(error).update(facts)
        return error

    async def test_until_it_works(self):
        failures = [self.failure(retryable=True), self.failure(retryable=True, retry_after=0.0)]
        assert await self.call(failures) == ("done", [(1, 0.001), (2, 0.0)])

    async def test_what_is_not_retryable_is_raised(self):
        with pytest.raises(ValueError, match="x"):
            await self.call([self.failure()])

    async def test_at_last_it_is_raised(self):
        with pytest.raises(ValueError, match="x"):
            await self.call([self.failure(retryable=True)] * 3, attempts=2)
        with pytest.raises(ValueError, match="attempts must be at least 1, got 0"):
            await self.call([], attempts=0)

    async def test_without_a_listener(self):
        async def once() -> int:
            if not done:
                done.append(1)
                raise self.failure(retryable=True)
            return 1

        done: list[int] = []
        assert await retry(once, delay=0) == 1
