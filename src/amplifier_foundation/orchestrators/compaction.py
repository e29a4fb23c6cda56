"""Compaction: the loop asks for it, the context decides and does it."""

from __future__ import annotations

import inspect

from amplifier_core.interfaces import ContextManager


async def compact_if_needed(context: ContextManager) -> None:
    """Compact the context if it can and wants to; its methods may be plain or async."""
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
