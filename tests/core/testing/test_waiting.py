"""Waiting until something holds."""

from __future__ import annotations

import asyncio

import pytest

from amplifier_core.testing import wait_for


async def test_waiting_ends_when_it_holds() -> None:
    """The condition may be plain or async."""
    done: list[int] = []
    asyncio.get_running_loop().call_later(0.02, done.append, 1)
    assert await wait_for(lambda: bool(done)) is True

    async def holds() -> bool:
        return True

    assert await wait_for(holds) is True


async def test_waiting_ends_when_time_is_up() -> None:
    """Without an exception; a condition that hangs has no more time than another."""

    async def hangs() -> bool:
        await asyncio.Event().wait()
        return True

    assert await wait_for(lambda: False, timeout=0.02) is False
    assert await wait_for(hangs, timeout=0.02) is False


async def test_what_holds_already_needs_no_time() -> None:
    """A timeout of zero asks once."""
    assert await wait_for(lambda: True, timeout=0) is True


async def test_an_error_of_the_condition_is_not_taken_for_the_end_of_time() -> None:
    """Its own TimeoutError comes through."""

    async def times_out() -> bool:
        raise TimeoutError("the server's")

    with pytest.raises(TimeoutError, match="the server's"):
        await wait_for(times_out)
