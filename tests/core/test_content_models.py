"""Blocks of content as streaming events carry them."""

from __future__ import annotations

from dataclasses import is_dataclass

import pytest

from amplifier_core.content_models import (
    ContentBlock,
    ContentBlockType,
    TextContent,
    ThinkingContent,
    ToolCallContent,
    ToolResultContent,
)


@pytest.mark.parametrize(
    ("block", "written"),
    [
        (ContentBlock(ContentBlockType.TEXT, raw="r"), {"type": "text"}),
        (TextContent("hi", raw="r"), {"type": "text", "text": "hi"}),
        (TextContent(), {"type": "text", "text": ""}),
        (ThinkingContent("hm"), {"type": "thinking", "text": "hm"}),
        (
            ToolCallContent("1", "Bash", {"a": 1}),
            {"type": "tool_call", "id": "1", "name": "Bash", "arguments": {"a": 1}},
        ),
        (ToolCallContent(), {"type": "tool_call", "id": "", "name": "", "arguments": None}),
        (
            ToolResultContent("1", output=[2], raw=object()),
            {"type": "tool_result", "tool_call_id": "1", "output": [2]},
        ),
        (
            ToolResultContent("1", error="no"),
            {"type": "tool_result", "tool_call_id": "1", "output": None, "error": "no"},
        ),
    ],
)
def test_a_block_becomes_a_dict_without_what_the_provider_sent(
    block: ContentBlock, written: dict[str, object]
) -> None:
    """Its type, its own fields, and an error only if there is one."""
    assert is_dataclass(block)
    assert block.to_dict() == written
    assert type(block.to_dict()["type"]) is str


def test_a_kind_is_a_string() -> None:
    """Modules compare it with plain texts."""
    plain: str = ContentBlockType.TOOL_CALL
    assert plain == "tool_call"
    assert [one.value for one in ContentBlockType] == [
        "text", "thinking", "tool_call", "tool_result",
    ]  # fmt: skip


def test_the_kind_of_a_block_is_set_and_may_be_repeated() -> None:
    """Some authors write it out."""
    assert TextContent(type=ContentBlockType.TEXT, text="x") == TextContent("x")
    assert TextContent(raw=1) != TextContent()
