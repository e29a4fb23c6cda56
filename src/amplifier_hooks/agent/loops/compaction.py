"""Compaction: the context makes room, before it hands out what to send or when it is told to."""

from __future__ import annotations

from typing import Any

from amplifier_core.errors import SessionError
from amplifier_core.interfaces import ContextManager, Provider
from amplifier_core.utils import is_awaitable
from amplifier_core.utils.calling import list_parameters
from amplifier_core.utils.conversation import arrange_messages

Messages = list[dict[str, Any]]


async def read_messages(context: ContextManager, provider: Provider) -> Messages:
    """What to send to the provider; nothing from a context that can only say all that it holds."""
    read = getattr(context, "get_messages_for_request", None)
    if read is None:
        await compact_if_needed(context)
        return []
    return arrange_messages(list(await _resolve(read(provider=provider))))


async def compact_if_needed(context: ContextManager) -> None:
    """Compact the context if it can and wants to; its methods may be plain or async."""
    should_compact = getattr(context, "should_compact", None)
    if should_compact is None:
        return
    if await _resolve(should_compact()):
        await _resolve(context.compact())  # type: ignore[attr-defined]  # goes with should_compact


async def compact_now(context: ContextManager | None) -> bool:
    """Compact the context because a person wants it; False if there was nothing to do.

    A context that knows why it is compacted gets the trigger `manual`.
    """
    compact = getattr(context, "compact", None)
    if compact is None:
        raise SessionError(f"{type(context).__name__} cannot be compacted: it has no compact()")
    known = list_parameters(compact)
    told = {"trigger": "manual"} if known and known & {"trigger", "**"} else {}
    return await _resolve(compact(**told)) is not False


async def _resolve(outcome: Any) -> Any:
    return await outcome if is_awaitable(outcome) else outcome
