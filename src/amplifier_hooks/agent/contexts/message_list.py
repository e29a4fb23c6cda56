"""The messages of a conversation, and whether anybody but the context can change one of them.

A loop sends the whole conversation again and again, and wants to look at what is new only. It may
rely on what it has seen before as long as the list has the same mark: since then messages were
added at the end, and nobody else got hold of the others.
"""

from __future__ import annotations

from collections.abc import Generator
from itertools import repeat
from types import NoneType
from typing import Any

from amplifier_hooks.modules.looking import is_any_held_twice

Message = dict[str, Any]

_TEXT = frozenset({str, NoneType})


class MessageList(list[Message]):
    """The conversation. Callers may use it directly or await it: existing loops do either."""

    mark: object | None = None
    """None if somebody may hold one of the messages, and change it at any time."""

    @classmethod
    def begin(cls) -> MessageList:
        """An empty one; nobody can hold what is yet to be added."""
        fresh = cls()
        fresh.mark = object()
        return fresh

    def __await__(self) -> Generator[Any, None, MessageList]:
        return self
        yield  # a generator that returns at once

    def is_private(self) -> bool:
        """Whether nobody holds one of the messages, or a part of it that is sent as a copy."""
        metadata = map(dict.get, self, repeat("metadata"))
        content = map(dict.get, self, repeat("content"))
        return (
            not is_any_held_twice(self)
            and not is_any_held_twice(metadata)
            # Blocks may be held one by one, which is not looked into.
            and _TEXT.issuperset(map(type, content))
        )
