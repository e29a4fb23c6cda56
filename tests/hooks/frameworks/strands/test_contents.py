"""Content blocks as texts, and values as JSON would hold them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("strands")

from amplifier_core.models import ToolResult
from amplifier_hooks.frameworks.strands.messages import (
    make_plain,
    read_arguments,
    read_block_text,
    read_result,
    read_text,
    replace_text,
    write_result,
)

IMAGE = {"image": {"format": "png", "source": {"bytes": b"\xff"}}}


def test_text_is_read_without_thoughts() -> None:
    """What the model thinks is nobody's answer."""
    thought = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    assert read_text([thought, {"text": "a"}, IMAGE, {"text": "b"}]) == "ab"
    assert read_text(None) == ""


def test_a_text_stands_in_the_place_of_the_first() -> None:
    """Several texts become one; a text where there was none comes first."""
    blocks: list[Any] = [IMAGE, {"text": "a"}, {"text": "b"}, IMAGE]
    assert replace_text(blocks, "c") == [IMAGE, {"text": "c"}, IMAGE]
    assert replace_text(blocks, "") == [IMAGE, IMAGE]
    assert replace_text([], "c") == [{"text": "c"}]


class Odd:
    """What no JSON holds."""

    def __repr__(self) -> str:
        return "<odd>"


def test_any_value_can_be_shown_to_hooks() -> None:
    """Bytes, and objects of the program."""
    assert make_plain({"raw": b"\xff", "odd": Odd()}) == {"raw": "_w==", "odd": "<odd>"}
    circle: list[Any] = []
    circle.append(circle)
    assert isinstance(make_plain(circle), str)


@pytest.mark.parametrize(
    ("given", "shown"),
    [({"a": 1}, {"a": 1}), ("{}", {"input": "{}"}), ([1], {"input": [1]}), (None, {})],
)
def test_hooks_always_see_an_object_as_input(given: Any, shown: Any) -> None:
    """A model may send something else."""
    assert read_arguments(given) == shown


def make_result(*blocks: Any, status: str = "success") -> Any:
    """A result of a tool."""
    return {"toolUseId": "c1", "status": status, "content": list(blocks)}


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (make_result({"text": "a"}, {"text": "b"}), "a\nb"),
        (make_result({"json": {"rows": [1]}}), {"rows": [1]}),
        (make_result(), ""),
        ({"at": 1}, {"at": 1}),
        ("plain", "plain"),
    ],
)
def test_hooks_see_the_text_or_the_value_of_a_result(result: Any, output: Any) -> None:
    """And not the form that the framework gives it."""
    read = read_result(result)
    assert read.output == output
    assert read.success


def test_other_blocks_are_shown_as_they_are() -> None:
    """With what JSON cannot hold written out."""
    blocks = read_result(make_result({"text": "a"}, IMAGE)).output
    assert blocks[0] == {"text": "a"}
    assert blocks[1]["image"]["source"]["bytes"] == "_w=="


def test_an_error_is_a_failure() -> None:
    """With its text."""
    read = read_result(make_result({"text": "no disk"}, status="error"))
    assert (read.success, read.error) == (False, "no disk")


def test_a_result_in_a_request_is_text() -> None:
    """A value is written as JSON."""
    assert read_block_text([{"text": "a"}]) == "a"
    assert read_block_text([{"json": {"rows": [1]}}]) == '{"rows": [1]}'


@pytest.mark.parametrize(
    ("result", "status", "block"),
    [
        (ToolResult.refused("denied"), "error", {"text": "denied"}),
        (ToolResult.failed("no"), "error", {"text": "no"}),
        (ToolResult(output="a"), "success", {"text": "a"}),
        (ToolResult(output={"rows": []}), "success", {"json": {"rows": []}}),
        (ToolResult(output=[1]), "success", {"text": "[1]"}),
    ],
)
def test_a_result_of_hooks_becomes_one_of_the_framework(
    result: ToolResult, status: str, block: Any
) -> None:
    """A refusal is an error that the model reads."""
    assert write_result(result, "c1") == make_result(block, status=status)
