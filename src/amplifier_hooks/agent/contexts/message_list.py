"""The messages of a conversation."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Message = dict[str, Any]


class MessageList(list[Message]):
    """The conversation. Callers may use it directly or await it: existing loops do either."""

    def __await__(self) -> Generator[Any, None, MessageList]:
        return self
        yield  # a generator that returns at once
