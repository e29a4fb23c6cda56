"""Documents read as a person does: the words, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from amplifier_hooks.insight.reports.document import Block, Column, Link


def read_words(blocks: Iterable[Block]) -> str:
    """All texts of a document; sentences in one piece."""
    return "\n".join(text for text in _list_texts([*blocks]) if text)


def _list_texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Link | Column):
        return [value.text if isinstance(value, Link) else value.title]
    if isinstance(value, tuple) and value and all(_is_inline(one) for one in value):
        return ["".join(text for one in value for text in _list_texts(one)[:1])]
    if isinstance(value, list | tuple):
        return [text for one in value for text in _list_texts(one)]
    if is_dataclass(value):
        return [text for one in fields(value) for text in _list_texts(getattr(value, one.name))]
    return []


def _is_inline(value: Any) -> bool:
    name = type(value).__name__
    return isinstance(value, str) or name in {"Code", "Quoted", "Marked", "Link"}
