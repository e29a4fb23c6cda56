"""Compaction: asked for by the loop, decided and done by the context."""

from __future__ import annotations

import inspect

from amplifier_core.interfaces import ContextManager


async def compact_if_needed(context: ContextManager) -> None:
    """Let a context that can compact itself do so when it wants to, plainly or awaited."""
    should_compact = getattr(context, "should_compact", None)
    if should_compact is None:
        return
    needed = should_compact()
    if needed is False:
        return
    if await needed if inspect.isawaitable(needed) else needed:
        compacted = context.compact()  # type: ignore[attr-defined]  # goes with should_compact
        if inspect.isawaitable(compacted):
            await compacted
