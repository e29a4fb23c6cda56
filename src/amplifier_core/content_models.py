"""Blocks of content as streaming events carry them: plain records that become dicts."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any


class ContentBlockType(str, Enum):  # noqa: UP042 - existing modules format it as `str, Enum` does
    """The kinds of content."""

    TEXT = "text"
    THINKING = "thinking"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"


@dataclass
class ContentBlock:
    """A block of any kind; `raw` is what the provider sent, for its own use."""

    type: ContentBlockType
    raw: Any = None

    def to_dict(self) -> dict[str, Any]:
        """The type and the block's own fields, without what the provider sent."""
        own = (one.name for one in fields(self) if one.name not in ("type", "raw"))
        return {"type": ContentBlockType(self.type).value, **{n: getattr(self, n) for n in own}}


@dataclass
class TextContent(ContentBlock):
    """Text of the reply."""

    type: ContentBlockType = field(default=ContentBlockType.TEXT, kw_only=True)
    raw: Any = field(default=None, kw_only=True)
    text: str = ""


@dataclass
class ThinkingContent(ContentBlock):
    """Text of the model's reasoning."""

    type: ContentBlockType = field(default=ContentBlockType.THINKING, kw_only=True)
    raw: Any = field(default=None, kw_only=True)
    text: str = ""


@dataclass
class ToolCallContent(ContentBlock):
    """A call that the model asks for."""

    type: ContentBlockType = field(default=ContentBlockType.TOOL_CALL, kw_only=True)
    raw: Any = field(default=None, kw_only=True)
    id: str = ""
    name: str = ""
    arguments: dict[str, Any] | None = None


@dataclass
class ToolResultContent(ContentBlock):
    """What a tool answered."""

    type: ContentBlockType = field(default=ContentBlockType.TOOL_RESULT, kw_only=True)
    raw: Any = field(default=None, kw_only=True)
    tool_call_id: str = ""
    output: Any = None
    error: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """As every block; the error is left out when there is none."""
        written = super().to_dict()
        if not self.error:
            del written["error"]
        return written
