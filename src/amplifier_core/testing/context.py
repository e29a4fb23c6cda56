"""Conversations in a list."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any
from unittest.mock import AsyncMock

from amplifier_core.utils import timestamp
from amplifier_core.utils.message_order import arrange_messages, list_open_ids


class MessageList(list[Any]):
    """A list that may be awaited too: some loops read a conversation plainly, others await it."""

    def __await__(self) -> Generator[Any, None, MessageList]:
        return self
        yield  # a generator that returns at once


class MemoryContext:
    """A conversation that behaves like a real one, and forgets nothing it is not told to."""

    keeps_results_with_calls = True

    def __init__(self, messages: Sequence[Any] | None = None) -> None:
        self.messages: list[Any] = list(messages or ())

    async def add_message(
        self,
        role: Any = None,
        content: Any = None,
        metadata: dict[str, Any] | None = None,
        *,
        message: Any = None,
        **more: Any,
    ) -> None:
        """Add a message of either form: a whole one, or its role and content."""
        role = message if role is None else role
        if isinstance(role, str):
            given = {"role": role, "content": content, "metadata": metadata or {}, **more}
            self.messages.append({**given, "timestamp": timestamp()})
        else:
            self.messages.append(dict(role) if isinstance(role, dict) else role)
        open_calls = list_open_ids(self.messages)
        self.messages[:] = arrange_messages(self.messages, open_calls, keep_strays=True)

    def get_messages(self) -> MessageList:
        """The conversation so far."""
        return MessageList(self.messages)

    def get_messages_for_request(
        self, token_budget: int | None = None, provider: Any = None
    ) -> MessageList:
        """What goes to the model: all of it, in an order that models accept."""
        return MessageList(arrange_messages(self.messages))

    async def set_messages(self, messages: list[Any]) -> None:
        """Replace it."""
        self.messages = list(messages)

    async def clear(self) -> None:
        """Forget it."""
        self.messages.clear()


class MockContextManager(MemoryContext):
    """The same, with methods that a test can ask how they were called."""

    def __init__(self, messages: Sequence[Any] | None = None) -> None:
        super().__init__(messages)
        for name in ("add_message", "get_messages", "get_messages_for_request", "clear"):
            setattr(self, name, AsyncMock(side_effect=getattr(self, name)))
