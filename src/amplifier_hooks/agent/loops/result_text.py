"""What the agent reads and sees of a tool's result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.message_models import ImageBlock
from amplifier_core.models import ToolResult

RESULT_LIMIT = 200_000
"""Characters of one result that go into a conversation, unless session.tool_result_limit says."""


def read_result_limit(plan: Mapping[str, Any]) -> int | None:
    """The limit that a mount plan sets; None is no limit."""
    limit: int | None = (plan.get("session") or {}).get("tool_result_limit", RESULT_LIMIT)
    return limit


def render_result(result: ToolResult, limit: int | None = RESULT_LIMIT) -> str:
    """What the agent reads of a result, cut with a sentence where it is over the limit."""
    text = result.get_serialized_output()
    if limit is None or len(text) <= limit:
        return text
    return (
        f"{text[:limit]}\n"
        f"[{len(text) - limit} of {len(text)} characters are left out: "
        f"over the limit of {limit} (session.tool_result_limit). Ask for less at a time.]"
    )


def list_pictures(result: ToolResult) -> list[dict[str, Any]]:
    """What the agent sees of a result: its pictures, which stand behind the text."""
    if not (result.content and result.success):
        return []
    pictures = (one for one in result.content if isinstance(one, ImageBlock))
    return [one.model_dump(exclude_none=True) for one in pictures]
