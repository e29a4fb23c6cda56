"""What the agent reads of a result."""

from __future__ import annotations

import pytest

from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import ToolResult
from amplifier_hooks.agent.loops.loop import (
    RESULT_LIMIT,
    list_pictures,
    read_result_limit,
    render_result,
)


def test_a_result_within_the_limit_is_read_whole() -> None:
    """Nothing is added to a result that fits, or that has no limit."""
    assert render_result(ToolResult(output="abc"), 3) == "abc"
    assert render_result(ToolResult(output="abc"), None) == "abc"


def test_a_result_over_the_limit_is_cut_with_a_sentence() -> None:
    """The agent learns how much there was, and what to do."""
    text = render_result(ToolResult(output="abcdef"), 4)
    head, said = text.split("\n")
    assert head == "abcd"
    assert "2 of 6 characters are left out" in said
    assert "Ask for less" in said


def test_what_no_model_takes_is_left_out() -> None:
    """Odd file names may bring in lone surrogates, and they do not count towards the limit."""
    assert render_result(ToolResult(output="a\udcffb\u00e9")) == "ab\u00e9"
    assert render_result(ToolResult(output="\x00\x00abc"), limit=3) == "abc"


@pytest.mark.parametrize(
    ("plan", "limit"),
    [
        ({}, RESULT_LIMIT),
        ({"session": None}, RESULT_LIMIT),
        ({"session": {"tool_result_limit": 5}}, 5),
        ({"session": {"tool_result_limit": None}}, None),
    ],
)
def test_the_plan_sets_the_limit(plan: dict[str, object], limit: int | None) -> None:
    """A plan that says nothing has the default; null means no limit."""
    assert read_result_limit(plan) == limit


def test_pictures_of_a_result_stand_behind_its_text() -> None:
    """A result that failed has none, and texts among its parts are not repeated."""
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
    parts: list[TextBlock | ImageBlock] = [TextBlock(text="Look:"), ImageBlock(source=source)]
    assert list_pictures(ToolResult(output="Look:", content=parts)) == [
        {"type": "image", "source": source}
    ]
    assert list_pictures(ToolResult(success=False, output="no", content=parts)) == []
    assert list_pictures(ToolResult(output="plain")) == []
