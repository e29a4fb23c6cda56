"""Contents: texts, and files between them."""

from __future__ import annotations

import pytest

pytest.importorskip("pydantic_ai")

from pydantic_ai import BinaryContent, ImageUrl, TextContent

from amplifier_hooks.frameworks.pydantic_ai.messages import (
    describe_content,
    put_content_text,
    read_content_text,
    restore_content,
)

PICTURE = ImageUrl("https://example.com/cat.png")
BYTES = BinaryContent(b"secret", media_type="image/png")
MIXED = ["Who", PICTURE, TextContent("is this?"), BYTES]


def test_the_text_of_a_content_is_all_of_its_texts() -> None:
    """Files have none."""
    assert read_content_text("Hi.") == "Hi."
    assert read_content_text(None) == ""
    assert read_content_text(MIXED) == "Who\nis this?"


def test_a_new_text_stands_before_the_files() -> None:
    """A plain text is replaced."""
    assert put_content_text("Hi.", "Ho.") == "Ho."
    assert put_content_text(MIXED, "What?") == ["What?", PICTURE, BYTES]


def test_hooks_see_blocks_without_the_bytes_of_files() -> None:
    """Which kind of file, and where it is."""
    shown = describe_content(MIXED)
    assert isinstance(shown, list)
    assert shown[0] == {"type": "text", "text": "Who"}
    assert shown[1]["type"] == "image-url"
    assert shown[1]["url"] == PICTURE.url
    assert shown[3]["media_type"] == "image/png"
    assert "data" not in shown[3]


def test_what_hooks_leave_alone_is_the_same_item() -> None:
    """Only the text that changed is another one."""
    shown = describe_content(MIXED)
    assert isinstance(shown, list)
    shown[0] = {"type": "text", "text": "What"}
    left = restore_content(MIXED, shown)
    assert left[0] == "What"
    assert left[1] is PICTURE
    assert left[2] is MIXED[2]
    assert left[3] is BYTES


def test_hooks_may_drop_files_or_leave_a_plain_text() -> None:
    """What they do not leave is not sent."""
    shown = describe_content(MIXED)
    assert restore_content(MIXED, shown[:1]) == ["Who"]
    assert restore_content(MIXED, "Who?") == "Who?"


def test_what_is_no_content_is_sent_as_json() -> None:
    """Nothing that a hook wrote is lost."""
    assert restore_content("Hi.", {"a": 1}) == '{"a":1}'
    assert restore_content(MIXED, [{"type": "video", "id": 7}]) == ['{"type":"video","id":7}']
