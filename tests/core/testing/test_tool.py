"""The tool that answers as it was told."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.models import ToolResult
from amplifier_core.testing import MockTool


@pytest.mark.parametrize(
    ("output", "expected"),
    [("x", "x"), (lambda given: given["a"], 1), (ToolResult(output=2), 2)],
)
async def test_a_tool_answers_as_told(output: Any, expected: Any) -> None:
    """An output, or a function of its input."""
    tool = MockTool("t", output)
    assert (await tool.execute({"a": 1})).output == expected
    assert tool.calls == [{"a": 1}]


async def test_a_tool_can_raise() -> None:
    """Or an exception."""
    with pytest.raises(ValueError, match="no"):
        await MockTool("t", ValueError("no")).execute({})


async def test_a_tool_needs_no_arguments() -> None:
    """It has a name, a description, a schema, and succeeds."""
    tool = MockTool()
    assert tool.name == "mock_tool"
    assert tool.description
    assert tool.input_schema["type"] == "object"
    result = await tool.execute({})
    assert (result.success, result.output) == (True, "Success")


async def test_a_tool_can_be_asked_how_it_was_called() -> None:
    """`execute` is a mock, and the calls are counted."""
    tool = MockTool()
    assert tool.call_count == 0
    await tool.execute({"a": 1})
    await tool.execute({"a": 2})
    assert tool.call_count == 2
    tool.execute.assert_awaited_with({"a": 2})  # type: ignore[attr-defined]


async def test_a_subclass_keeps_its_own_way_to_run() -> None:
    """Also when it is a plain function, as some tools have."""

    class Plain(MockTool):
        def execute(self, input: dict[str, Any]) -> Any:  # type: ignore[override]
            return "at once"

    assert Plain("p").execute({}) == "at once"
