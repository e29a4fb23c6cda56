"""Compaction: the context makes room before it hands out what to send."""

from __future__ import annotations

from typing import Any

from amplifier_core.interfaces import ContextManager, Provider
from amplifier_core.utils import is_awaitable


async def read_messages(context: ContextManager, provider: Provider) -> list[dict[str, Any]]:
    """What to send to the provider; nothing from a context that can only say all that it holds."""
    read = getattr(context, "get_messages_for_request", None)
    if read is None:
        await compact_if_needed(context)
        return []
    found = read(provider=provider)
    return list(await found if is_awaitable(found) else found)


async def compact_if_needed(context: ContextManager) -> None:
    """Compact the context if it can and wants to; its methods may be plain or async."""
    should_compact = getattr(context, "should_compact", None)
    if should_compact is None:
        return
    needed = should_compact()
    if needed is False:
        return
    if await needed if is_awaitable(needed) else needed:
        compacted = context.compact()  # type: ignore[attr-defined]  # goes with should_compact
        if is_awaitable(compacted):
            await compacted
