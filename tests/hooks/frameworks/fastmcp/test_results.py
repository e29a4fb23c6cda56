"""Results of tools, resources and prompts: as hooks see them, and back."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("fastmcp")

from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.tools import ToolResult
from mcp_types import ImageContent, TextContent

from amplifier_hooks.frameworks.fastmcp import (
    add_texts,
    read_prompt,
    read_resource,
    read_tool,
    write_prompt,
    write_resource,
    write_tool,
)

IMAGE = ImageContent(type="image", data="aGk=", mime_type="image/png")


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResult("noted"), "noted"),
        (ToolResult("noted", {"result": "noted"}), "noted"),
        (ToolResult(structured_content={"result": [1, 2]}), [1, 2]),
        (ToolResult(structured_content={"name": "ana"}), {"name": "ana"}),
        (
            ToolResult("Found her.", {"name": "ana"}),
            {"content": "Found her.", "structured_content": {"name": "ana"}},
        ),
        (  # a reader of the text sees another name than one of the value
            ToolResult('{"name": "eve", "name": "ana"}', {"name": "ana"}),
            {
                "content": '{"name": "eve", "name": "ana"}',
                "structured_content": {"name": "ana"},
            },
        ),
    ],
)
def test_hooks_see_what_a_tool_says_once(result: ToolResult, output: Any) -> None:
    """Text that repeats the value is left out; text that says more is not."""
    assert read_tool(result).output == output


def test_hooks_see_what_is_no_text() -> None:
    """As the parts that the client gets."""
    seen = read_tool(ToolResult([TextContent(type="text", text="Look:"), IMAGE])).output
    assert [one["type"] for one in seen] == ["text", "image"]


def test_an_error_is_seen_as_one() -> None:
    """Servers also return errors instead of raising them."""
    assert not read_tool(ToolResult("no such note", is_error=True)).success


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (ToolResult("PIN 4711", {"result": "PIN 4711"}), "PIN [hidden]"),
        (ToolResult(structured_content={"pin": "4711"}), {"pin": "[hidden]"}),
        (ToolResult(structured_content={"pin": "4711"}), "withheld"),
        (
            ToolResult("The PIN is 4711.", {"pin": "4711"}),
            {"content": "The PIN is [hidden].", "structured_content": {"pin": "[hidden]"}},
        ),
        (ToolResult("PIN 4711"), "PIN [hidden]"),
    ],
)
def test_nothing_of_a_changed_result_goes_out(result: ToolResult, output: Any) -> None:
    """Neither in the text nor in the structured content."""
    assert "4711" in result.model_dump_json()
    written = write_tool(result, output)
    assert "4711" not in written.model_dump_json()
    assert read_tool(written).output == output


def test_more_to_read_comes_after_the_result() -> None:
    """What was there stays as it is."""
    result = ToolResult("noted", {"result": "noted"})
    more = add_texts(result, ["Lint: line 3"])
    assert [one.text for one in more.content] == ["noted", "Lint: line 3"]
    assert more.structured_content == {"result": "noted"}
    assert add_texts(result, []) is result


def test_a_resource_keeps_its_kind() -> None:
    """Its text is replaced; of bytes, hooks see how many there are."""
    result = ResourceResult([ResourceContent("PIN 4711", mime_type="text/markdown")])
    assert read_resource(result).output == "PIN 4711"
    written = write_resource(result, "PIN [hidden]")
    assert [(one.content, one.mime_type) for one in written.contents] == [
        ("PIN [hidden]", "text/markdown")
    ]
    assert read_resource(ResourceResult([ResourceContent(b"abc")])).output == "<3 bytes>"


def test_a_prompt_keeps_the_messages_that_nobody_changed() -> None:
    """To the object; others are written anew."""
    kept = Message("Hello!", role="assistant")
    result = PromptResult([Message("PIN 4711"), kept])
    seen = read_prompt(result).output
    assert seen[0] == {"role": "user", "content": "PIN 4711"}
    written = write_prompt(result, [{"role": "user", "content": "PIN [hidden]"}, seen[1]])
    assert written.messages[0].content.text == "PIN [hidden]"
    assert written.messages[1] is kept
    assert write_prompt(result, "withheld").messages[0].content.text == "withheld"
