"""Server-sent events, and the pieces that a reply is streamed in."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any


def format_event(data: dict[str, Any] | str, name: str | None = None) -> bytes:
    """One event as it is sent."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n".encode() if name else f"data: {text}\n\n".encode()


def split_arguments(text: str, size: int = 12) -> Iterator[str]:
    """The arguments of a call in pieces of equal size, in the middle of words too."""
    return (text[start : start + size] for start in range(0, len(text), size))
