"""Results of tools as hooks see them, and back."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("agents")

from agents.tool import ToolOutputImage, ToolOutputText

from amplifier_core.models import ToolResult
from amplifier_hooks.external.verdicts import Called
from amplifier_hooks.frameworks.openai_agents.messages import (
    is_failed,
    read_output,
    read_value,
    write_output,
)


@dataclass
class Point:
    """A value of an application."""

    x: int


class Odd:
    """A value that JSON cannot hold."""

    def __str__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("text", "text"),
        (None, None),
        (7, 7),
        ({"a": 1}, {"a": 1}),
        (Point(3), {"x": 3}),
        (ToolOutputText(text="a"), {"type": "text", "text": "a"}),
        (
            [ToolOutputImage(image_url="x"), "b"],
            [{"type": "image", "image_url": "x"}, "b"],
        ),
        (Odd(), "odd"),
    ],
)
def test_hooks_see_values_of_json(value: Any, seen: Any) -> None:
    """Whatever a tool returns."""
    assert read_value(value) == seen
    assert read_output(value).output == seen


def test_a_value_of_the_wrong_type_is_read_without_a_warning() -> None:
    """It would say what is in it, to whoever reads warnings."""
    odd = ToolOutputText.model_construct(text=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_value(odd)["text"] == 7


def test_an_untouched_result_is_the_very_object() -> None:
    """Nothing is made of it."""
    value = Odd()
    assert write_output(Called(read_output(value), value, ran=True)) is value


def test_a_changed_result_keeps_its_form() -> None:
    """A text stays a text."""
    made = ToolResult(output={"a": 1})
    assert isinstance(write_output(Called(made, "text", ran=True, changed=True)), str)
    assert write_output(Called(made, {"a": 0}, ran=True, changed=True)) == {"a": 1}


def test_a_denial_is_its_reason() -> None:
    """Before the call and after it."""
    denied = ToolResult.refused("no")
    for called in (Called(denied), Called(denied, {"a": 0}, ran=True, changed=True)):
        assert is_failed(called)
        assert write_output(called) == called.text
    assert not is_failed(Called(ToolResult(output="a"), "a", ran=True))
