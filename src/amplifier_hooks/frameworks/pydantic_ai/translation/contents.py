"""What people and programs say to a model: texts, and files between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic_ai import TextContent, UserContent
from pydantic_core import to_json

Content = str | Sequence[UserContent]

_SHOWN = ("media_type", "url", "identifier", "file_id")


def read_text(content: Content | None) -> str:
    """The texts of a content, joined."""
    if content is None or isinstance(content, str):
        return content or ""
    texts = (_find_text(one) for one in content)
    return "\n".join(text for text in texts if text is not None)


def put_text(content: Content | None, text: str) -> Content:
    """The content with another text; its files stay."""
    if content is None or isinstance(content, str):
        return text
    return [text, *(one for one in content if _find_text(one) is None)]


def describe(content: Content) -> str | list[dict[str, Any]]:
    """A content as hooks see it: a text, or a block for each item."""
    if isinstance(content, str):
        return content
    return [_describe_item(one) for one in content]


def restore(content: Content, shown: Any) -> Content:
    """The content that hooks made of a description of another one."""
    if not isinstance(shown, list):
        return shown if isinstance(shown, str) else to_json(shown).decode()
    items = [] if isinstance(content, str) else list(content)
    return [_restore_item(items, one) for one in shown]


def _find_text(item: UserContent) -> str | None:
    if isinstance(item, str):
        return item
    return item.content if isinstance(item, TextContent) else None


def _describe_item(item: UserContent) -> dict[str, Any]:
    text = _find_text(item)
    if text is not None:
        return {"type": "text", "text": text}
    shown = {name: getattr(item, name, None) for name in _SHOWN}
    known = {name: value for name, value in shown.items() if isinstance(value, str)}
    return {"type": getattr(item, "kind", type(item).__name__), **known}


def _restore_item(items: Sequence[UserContent], shown: Any) -> UserContent:
    for item in items:
        if _describe_item(item) == shown:
            return item
    if isinstance(shown, dict) and isinstance(shown.get("text"), str):
        return str(shown["text"])
    return shown if isinstance(shown, str) else to_json(shown).decode()
