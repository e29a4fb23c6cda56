"""What a server answers: texts that hooks see, and images for the model."""

from __future__ import annotations

import pytest

from amplifier_core.message_models import ImageBlock
from amplifier_hooks.agent.tools.mcp.content import read_parts, read_tool_answer

PNG = "iVBORw0KGgo="


def test_a_text_is_a_text():
    """As it is."""
    result = read_tool_answer({"content": [{"type": "text", "text": "3"}]})
    assert (result.success, result.output, result.content) == (True, "3", None)


def test_an_image_goes_to_the_model_and_is_described_to_hooks():
    """Base64 would fill what a model reads."""
    image = {"type": "image", "data": PNG, "mimeType": "image/png"}
    result = read_tool_answer({"content": [{"type": "text", "text": "Look:"}, image]})
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert result.content == [ImageBlock(source=source)]
    assert PNG not in str(result.output)
    assert "Look:" in str(result.output)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "audio", "data": PNG, "mimeType": "audio/wav"},
        {"type": "image", "data": PNG, "mimeType": "image/tiff"},
        {"type": "image", "data": "AAAA" * 1_750_001, "mimeType": "image/png"},
        {
            "type": "resource",
            "resource": {"uri": "a:b", "blob": PNG, "mimeType": "application/zip"},
        },
    ],
)
def test_what_models_do_not_take_is_described(part):
    """With its kind and its size."""
    result = read_tool_answer({"content": [part]})
    assert result.content is None
    assert "bytes, sha256" in str(result.output)


def test_resources_and_links_are_carried_along():
    """The agent reads where to find more."""
    parts = [
        {"type": "resource_link", "uri": "demo://a", "name": "a"},
        {"type": "resource", "resource": {"uri": "demo://b", "text": "content"}},
        {"type": "resource", "resource": {"uri": "demo://c", "blob": PNG, "mimeType": "image/png"}},
    ]
    result = read_tool_answer({"content": parts})
    assert "demo://a" in str(result.output)
    assert "content" in str(result.output)
    assert len(result.content) == 1


def test_an_error_of_a_tool_is_a_failed_result():
    """Its text is the sentence that the agent reads."""
    result = read_tool_answer({"content": [{"type": "text", "text": "no"}], "isError": True})
    assert (result.success, result.error_message) == (False, "no")


def test_structured_content_is_the_value():
    """If the text is no more than the same, written down."""
    wire = {"content": [{"type": "text", "text": '{"a":1}'}], "structuredContent": {"a": 1}}
    assert read_tool_answer(wire).output == {"a": 1}


def test_prompts_and_resources_have_images_too():
    """In the parts that they consist of."""
    message = {"role": "user", "content": {"type": "image", "data": PNG, "mimeType": "image/png"}}
    assert len(read_parts([message]).content) == 1
    assert read_parts([{"uri": "a:b", "text": "x"}]).content is None
