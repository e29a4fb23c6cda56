"""Results of tools, resources and prompts: as hooks see them, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.tools import ToolResult as ToolAnswer
from mcp_types import TextContent
from pydantic_core import to_jsonable_python

from amplifier_core.models import ToolResult
from amplifier_hooks.guards.mcp.results import repeats

WRAPPED = "result"
"""The only key of the structured content that FastMCP makes of a value that is no object."""


def read_tool(value: Any) -> ToolResult:
    """The value of a tool's result; its parts, if it says more than one thing."""
    if not isinstance(value, ToolAnswer):
        return ToolResult(output=to_jsonable_python(value, fallback=str, bytes_mode="base64"))
    return ToolResult(success=not value.is_error, output=_read_value(value))


def _read_value(value: ToolAnswer) -> Any:
    structured = value.structured_content
    said = _read_blocks(value.content)
    if structured is None:
        return said
    inner = structured[WRAPPED] if set(structured) == {WRAPPED} else structured
    if repeats(said, inner) or repeats(said, structured):
        return inner
    return {"content": said, "structured_content": structured}


def _read_blocks(blocks: Sequence[Any]) -> Any:
    if all(isinstance(one, TextContent) and one.annotations is None for one in blocks):
        return "\n".join(one.text for one in blocks)
    return [to_jsonable_python(one, fallback=str) for one in blocks]


def write_tool(value: Any, output: Any) -> ToolAnswer:
    """A tool's result with what hooks left of it; nothing else of the old one goes out."""
    before = value.structured_content if isinstance(value, ToolAnswer) else None
    meta = value.meta if isinstance(value, ToolAnswer) else None
    if before is None:
        return ToolAnswer(content=_write_blocks(output))
    if isinstance(output, dict) and set(output) == {"content", "structured_content"}:
        content = _write_blocks(output["content"])
        return ToolAnswer(content, output["structured_content"], meta=meta)
    if set(before) == {WRAPPED} or not isinstance(output, dict):
        return ToolAnswer(_write_blocks(output), {WRAPPED: output}, meta=meta)
    return ToolAnswer(_write_blocks(output), output, meta=meta)


def _write_blocks(output: Any) -> Any:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def add_texts(value: Any, texts: Sequence[str]) -> Any:
    """A result with more to read for the agent."""
    if isinstance(value, ToolAnswer) and texts:
        more = [TextContent(type="text", text=one) for one in texts]
        return value.model_copy(update={"content": [*value.content, *more]})
    return value


def read_resource(value: ResourceResult) -> ToolResult:
    """The text of a resource; the size of what is no text."""
    parts = [
        one.content if isinstance(one.content, str) else f"<{len(one.content)} bytes>"
        for one in value.contents
    ]
    return ToolResult(output=parts[0] if len(parts) == 1 else parts)


def write_resource(value: ResourceResult, output: Any) -> ResourceResult:
    """A resource with what hooks left of it."""
    parts = output if isinstance(output, list) else [output]
    before = value.contents if isinstance(value, ResourceResult) else []
    kinds = [one.mime_type for one in before] if len(before) == len(parts) else []
    made = [
        ResourceContent(one if isinstance(one, str) else json.dumps(one), mime_type=kind)
        for one, kind in zip(parts, kinds or [None] * len(parts), strict=True)
    ]
    return ResourceResult(made)


def read_prompt(value: PromptResult) -> ToolResult:
    """The messages of a prompt."""
    return ToolResult(output=[_read_message(one) for one in value.messages])


def _read_message(message: Message) -> dict[str, Any]:
    content = message.content
    said = content.text if isinstance(content, TextContent) else to_jsonable_python(content)
    return {"role": message.role, "content": said}


def write_prompt(value: PromptResult, output: Any) -> PromptResult:
    """A prompt with what hooks left of it; what they left alone keeps its own objects."""
    if not isinstance(output, list):
        return PromptResult([Message(output)])
    before = value.messages if isinstance(value, PromptResult) else []
    known = {json.dumps(_read_message(one), sort_keys=True): one for one in before}
    return PromptResult(
        [known.get(json.dumps(one, sort_keys=True)) or _write(one) for one in output]
    )


def _write(message: Any) -> Message:
    if not isinstance(message, dict):
        return Message(message)
    said = message.get("content") or ""
    return Message(said, role="assistant" if message.get("role") == "assistant" else "user")
