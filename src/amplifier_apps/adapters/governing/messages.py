"""The messages of a request: what hooks made of them, in terms of what the framework had."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Plain = dict[str, Any]
"""A message as hooks see it: role, content, and if it has them tool_calls, tool_call_id, name."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One message to send.

    `index` is that of the framework's own message behind it; None if a hook added it. `message` is
    None if that one goes out as it is.
    """

    index: int | None
    message: Plain | None = None


def place_messages(before: Sequence[Plain], after: Sequence[Plain]) -> list[Placed]:
    """Find each message that hooks left among those they were given.

    What is equal is the same message; what stands in its place with the same role is a changed one.
    """
    placed: list[Placed] = []
    position = 0
    for number, message in enumerate(after):
        found = _find_equal(before, message, position)
        if found is not None:
            placed.append(Placed(found))
            position = found + 1
        elif _stands_for(before, after, number, position):
            placed.append(Placed(position, message))
            position += 1
        else:
            placed.append(Placed(None, message))
    return placed


def _find_equal(before: Sequence[Plain], message: Plain, start: int) -> int | None:
    for index in range(start, len(before)):
        if before[index] == message:
            return index
    return None


def _stands_for(before: Sequence[Plain], after: Sequence[Plain], number: int, index: int) -> bool:
    """Whether a message that equals none is a new form of the next one."""
    if index >= len(before) or before[index] in after[number + 1 :]:
        return False
    old, new = before[index], after[number]
    same = ("role", "tool_call_id")
    return all(old.get(key) == new.get(key) for key in same)


def is_unchanged(placed: Sequence[Placed], count: int) -> bool:
    """Whether the request goes out exactly as the framework made it."""
    return len(placed) == count and all(
        one.index == number and one.message is None for number, one in enumerate(placed)
    )


def read_text(content: Any) -> str:
    """The text of a content: itself, or its text blocks joined."""
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        return str(content)
    return "".join(_read_block(block) for block in content)


def _read_block(block: Any) -> str:
    if isinstance(block, str):
        return block
    text = block.get("text") if isinstance(block, dict) else getattr(block, "text", None)
    return text if isinstance(text, str) else ""
