"""Contents as texts, and values as JSON would hold them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.genai import types
from pydantic import BaseModel

from amplifier_core.models import ToolResult
from amplifier_hooks.frameworks.google_adk.messages import (
    make_content,
    make_plain,
    read_response,
    read_text,
    read_value,
    replace_text,
    write_value,
)


def test_text_is_read_without_thoughts() -> None:
    """What the model thinks is nobody's answer."""
    parts = [types.Part(text="hm", thought=True), types.Part(text="a"), types.Part(text="b")]
    assert read_text(parts) == "ab"
    assert read_text(None) == ""


def test_a_text_stands_in_the_place_of_the_first() -> None:
    """Several texts become one; a text where there was none comes first."""
    image = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    content = types.Content(parts=[image, types.Part(text="a"), types.Part(text="b"), image])
    assert [part.text for part in replace_text(content, "c").parts] == [None, "c", None]
    assert [part.text for part in replace_text(content, "").parts] == [None, None]
    assert [part.text for part in replace_text(types.Content(), "c").parts] == ["c"]


def test_a_content_of_one_text() -> None:
    """With its role."""
    assert (make_content("model", "a").role, read_text(make_content("model", "a").parts)) == (
        "model",
        "a",
    )


class Found(BaseModel):
    """What a tool may return."""

    data: bytes = b"x"


class Odd:
    """What no JSON holds."""

    def __repr__(self) -> str:
        return "<odd>"


def test_any_value_can_be_shown_to_hooks() -> None:
    """Models, bytes and whatever else a tool returns."""
    shown = make_plain({"found": Found(), "raw": b"\xff", "odd": Odd()})
    assert shown == {"found": {"data": "x"}, "raw": "_w==", "odd": "<odd>"}
    assert "Found" in make_plain(Found(data=b"\xff"))


@pytest.mark.parametrize(
    ("value", "success"),
    [("ok", True), ({"rows": []}, True), ({"error": ""}, True), ({"error": "no"}, False)],
)
def test_an_error_makes_a_failure(value: Any, success: bool) -> None:
    """As tools of this framework report it."""
    assert read_value(value).success is success


@pytest.mark.parametrize(
    ("result", "given"),
    [
        (ToolResult.refused("Operation denied by a: b"), {"error": "Operation denied by a: b"}),
        (ToolResult.failed("no"), {"error": "no"}),
        (ToolResult(success=False, output={"error": "no", "code": 1}), {"error": "no", "code": 1}),
        (ToolResult(output="text"), "text"),
        (ToolResult(output=[1]), [1]),
        (ToolResult(output=None), "Success"),
    ],
)
def test_a_result_of_hooks_becomes_one_of_the_framework(result: ToolResult, given: Any) -> None:
    """A refusal is an error that the model reads."""
    assert write_value(result) == given


def test_a_response_is_read_as_text() -> None:
    """A plain result is its text, all else is JSON."""
    plain = types.FunctionResponse(response={"result": "a"})
    assert read_response(plain) == "a"
    assert read_response(types.FunctionResponse(response={"rows": [1]})) == '{"rows": [1]}'
