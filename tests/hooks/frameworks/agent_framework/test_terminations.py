"""Middleware behind ours that ends the work early: what it left is judged all the same."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_framework")

from agent_framework import MiddlewareFailure, MiddlewareTermination

from amplifier_hooks.frameworks.agent_framework.hooks import call_to_end


async def test_an_early_end_is_returned() -> None:
    """Whoever called raises it again when the result is judged."""
    ended = MiddlewareTermination()

    async def stop() -> None:
        raise ended

    async def go() -> None:
        """Go on."""

    assert await call_to_end(stop) is ended
    assert await call_to_end(go) is None


async def test_a_failure_is_no_early_end() -> None:
    """It passes."""

    async def fail() -> None:
        raise MiddlewareFailure("no")

    with pytest.raises(MiddlewareFailure):
        await call_to_end(fail)
