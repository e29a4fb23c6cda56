"""Results of a server as results of a tool: texts that hooks see, and images for the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amplifier_core.message_models import ImageBlock
from amplifier_core.models import ToolResult
from amplifier_hooks.guards.mcp.results import hide_bulk, read_call

Wire = dict[str, Any]

SHOWN = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What models take."""

_LARGEST = 7_000_000
"""Characters of base64: models take no larger images."""
_MOST = 20


def read_tool_answer(result: Wire) -> ToolResult:
    """What a tool has answered; sounds, files and odd images are described in its text."""
    return _add_images(read_call(result), result.get("content"))


def read_parts(parts: Any) -> ToolResult:
    """What a resource or a prompt consists of."""
    return _add_images(ToolResult(output=hide_bulk(parts)), parts)


def _add_images(result: ToolResult, parts: Any) -> ToolResult:
    images = list(_find_images(parts))[:_MOST]
    if not images or not result.success:
        return result
    return result.model_copy(update={"content": images})


def _find_images(value: Any) -> Iterator[ImageBlock]:
    if isinstance(value, list):
        for one in value:
            yield from _find_images(one)
    elif isinstance(value, dict):
        data = value.get("data", value.get("blob"))
        if value.get("mimeType") in SHOWN and isinstance(data, str) and len(data) <= _LARGEST:
            yield _make_image(str(value["mimeType"]), data)
        else:
            for name in ("resource", "content"):
                yield from _find_images(value.get(name))


def _make_image(kind: str, data: str) -> ImageBlock:
    return ImageBlock(source={"type": "base64", "media_type": kind, "data": data})
