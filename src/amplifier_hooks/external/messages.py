"""The messages of a request: what hooks made of them, in terms of what the framework had."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
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


def find_problem(messages: Sequence[Any]) -> str | None:
    """Why what hooks left cannot be sent to any model, if so."""
    for number, one in enumerate(messages, 1):
        if not isinstance(one, dict):
            return f"a hook left {type(one).__name__} as message {number}; a message is a dict"
        role = one.get("role")
        content = one.get("content")
        if not isinstance(role, str) or not role:
            return f"a hook left message {number} without a role"
        if content is not None and not isinstance(content, str | list):
            kind = type(content).__name__
            return f"a hook left {kind} as the content of message {number}; it is text or blocks"
    return None


def place_messages(before: Sequence[Plain], after: Sequence[Plain]) -> list[Placed]:
    """Find each message that hooks left among those they were given.

    What is equal is the same message; what stands in its place with the same role is a changed one.
    """
    first = _count_same(before, after)
    last = _count_same(before[first:][::-1], after[first:][::-1])
    placed = [Placed(index) for index in range(first)]
    placed += _place_changed(before, after, first, last)
    return placed + [Placed(len(before) - last + index) for index in range(last)]


def _count_same(before: Sequence[Plain], after: Sequence[Plain]) -> int:
    pairs = zip(before, after, strict=False)
    return next(
        (number for number, (old, new) in enumerate(pairs) if old != new),
        min(len(before), len(after)),
    )


def _place_changed(
    before: Sequence[Plain], after: Sequence[Plain], first: int, last: int
) -> Iterator[Placed]:
    """The messages between those at both ends that nobody touched."""
    old = before[first : len(before) - last]
    new = after[first : len(after) - last]
    matcher = SequenceMatcher(None, [repr(one) for one in old], [repr(one) for one in new], False)
    for what, start, end, new_start, new_end in matcher.get_opcodes():
        free = list(range(start, end))
        for message in new[new_start:new_end]:
            index = free.pop(0) if what == "equal" else _take_same_place(old, free, message)
            if index is None:
                yield Placed(None, message)
            else:
                yield Placed(first + index, None if old[index] == message else message)


def _take_same_place(old: Sequence[Plain], free: list[int], message: Plain) -> int | None:
    """The next message of the framework that this one is a new form of; it and those before go."""
    for number, index in enumerate(free):
        if all(old[index].get(key) == message.get(key) for key in ("role", "tool_call_id")):
            del free[: number + 1]
            return index
    return None


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
