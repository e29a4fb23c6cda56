"""Middleware behind ours that ends the work early: what it left is judged all the same."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent_framework import MiddlewareTermination


async def call_to_end(call_next: Callable[[], Awaitable[None]]) -> MiddlewareTermination | None:
    """Call what is behind us; returns by what it was ended, to be raised again afterwards."""
    try:
        await call_next()
    except MiddlewareTermination as ended:
        return ended
    return None
