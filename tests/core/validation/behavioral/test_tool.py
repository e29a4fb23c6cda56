"""The tests of a tool's behaviour."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.models import ToolResult
from amplifier_core.testing import MockTool
from amplifier_core.validation.behavioral import ToolBehaviorTests
from tests.support.behavior import find_failures, list_tests

CALLS = {"test_a_call_gives_a_result", "test_an_empty_call_gives_a_result"}
BLUNDER = {*CALLS, "test_an_empty_call_is_no_blunder"}


def test_there_are_seven() -> None:
    """As many as authors of the ecosystem count."""
    assert len(list_tests(ToolBehaviorTests)) == 7


@pytest.mark.parametrize(
    ("output", "failed"),
    [
        ("fine", set()),
        (ToolResult(success=False, error="what?"), set()),
        (ValueError("refused"), set()),
        (lambda given: given["path"], BLUNDER),
        (AttributeError("no"), BLUNDER),
        (TypeError("no"), BLUNDER),
    ],
)
async def test_a_tool_must_not_stumble_over_missing_arguments(
    output: Any, failed: set[str]
) -> None:
    """A result that says no, or an exception of its choice, is no blunder."""
    assert await find_failures(ToolBehaviorTests, lambda: (MockTool("t", output),)) == failed


async def test_an_answer_must_be_a_result() -> None:
    """A loop cannot do with less."""

    class Plain(MockTool):
        async def execute(self, input: dict[str, Any]) -> Any:
            return "text"

    assert await find_failures(ToolBehaviorTests, lambda: (Plain("t"),)) == CALLS


@pytest.mark.parametrize(
    ("attribute", "value", "failed"),
    [
        ("name", "", {"test_the_tool_has_a_name"}),
        ("name", None, {"test_the_tool_has_a_name"}),
        ("description", " ", {"test_the_tool_has_a_description"}),
        ("description", 3, {"test_the_tool_has_a_description"}),
        ("input_schema", None, {"test_the_schema_is_a_dict_if_there_is_one"}),
        ("execute", None, {*BLUNDER, "test_the_tool_can_be_executed"}),
    ],
)
async def test_a_tool_must_say_what_it_is(attribute: str, value: Any, failed: set[str]) -> None:
    """One fault, one test, as far as that goes."""

    def make() -> tuple[MockTool]:
        tool = MockTool("t")
        setattr(tool, attribute, value)
        return (tool,)

    assert await find_failures(ToolBehaviorTests, make) == failed


async def test_a_schema_is_optional() -> None:
    """Tools of the ecosystem may have none."""

    def make() -> tuple[MockTool]:
        tool = MockTool("t")
        del tool.input_schema
        return (tool,)

    assert await find_failures(ToolBehaviorTests, make) == set()
