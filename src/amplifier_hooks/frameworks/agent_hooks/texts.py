"""The text in a content of the contract, which each host shapes as it likes.

A text, blocks of which some are text, or whole messages: then it is that of the last message that
has one.
"""

from __future__ import annotations

import json
from typing import Any


def read_text(content: Any) -> str:
    """What a person would read of it; a shape that nobody knows as JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    place = _find_message(content)
    if place is not None:
        return read_text(content[place]["content"])
    if _has_blocks(content):
        return "".join(str(one["text"]) for one in content if _is_text(one))
    return json.dumps(content, ensure_ascii=False)


def replace_text(content: Any, text: str) -> Any:
    """The content with another text, and everything else as it was."""
    if text == read_text(content):
        return content
    place = None if isinstance(content, str) else _find_message(content)
    if place is not None:
        message = {**content[place], "content": replace_text(content[place]["content"], text)}
        return [*content[:place], message, *content[place + 1 :]]
    if not isinstance(content, str) and _has_blocks(content):
        first = next(place for place, one in enumerate(content) if _is_text(one))
        others = [one for one in content[first + 1 :] if not _is_text(one)]
        return [*content[:first], {**content[first], "text": text}, *others]
    return text


def _find_message(content: Any) -> int | None:
    """Where the last message with a text is, if these are messages."""
    if not isinstance(content, list):
        return None
    for place in range(len(content) - 1, -1, -1):
        one = content[place]
        if isinstance(one, dict) and "role" in one and _holds_text(one.get("content")):
            return place
    return None


def _holds_text(content: Any) -> bool:
    return bool(content) if isinstance(content, str) else _has_blocks(content)


def _has_blocks(content: Any) -> bool:
    return isinstance(content, list) and any(map(_is_text, content))


def _is_text(block: Any) -> bool:
    return (
        isinstance(block, dict)
        and block.get("type") == "text"
        and isinstance(block.get("text"), str)
    )
