"""Waiting for what a test knows must come."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from amplifier_core.testing import wait_for


async def wait_until(
    condition: Callable[[], bool | Awaitable[bool]], timeout: float = 50.0
) -> None:
    """Wait until something holds; the test fails if it never does."""
    assert await wait_for(condition, timeout), f"it did not hold within {timeout} seconds"
