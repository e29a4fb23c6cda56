"""Behaviour of a tool."""

from __future__ import annotations

from typing import Any

from amplifier_core.models import ToolResult
from amplifier_core.validation.pytest_marks import asynchronous

BLUNDERS = (AttributeError, KeyError, TypeError)


class ToolBehaviorTests:
    """The tool says what it is, and answers calls that lack every argument."""

    @asynchronous
    async def test_the_tool_has_a_name(self, tool_module: Any) -> None:
        """The model calls it by that."""
        _check_text(tool_module, "name")

    @asynchronous
    async def test_the_tool_has_a_description(self, tool_module: Any) -> None:
        """The model chooses by that."""
        _check_text(tool_module, "description")

    @asynchronous
    async def test_the_schema_is_a_dict_if_there_is_one(self, tool_module: Any) -> None:
        """A JSON schema of the input."""
        schema = getattr(tool_module, "input_schema", {})
        assert isinstance(schema, dict), f"input_schema is {type(schema).__name__}, not a dict"

    @asynchronous
    async def test_the_tool_can_be_executed(self, tool_module: Any) -> None:
        """It has a method for that."""
        assert callable(getattr(tool_module, "execute", None)), "there is no method execute"

    @asynchronous
    async def test_a_call_gives_a_result(self, tool_module: Any) -> None:
        """With nothing but the id that a loop may add."""
        _check_result(await _execute(tool_module, {"_tool_call_id": "call_1"}))

    @asynchronous
    async def test_an_empty_call_gives_a_result(self, tool_module: Any) -> None:
        """A result that says what is missing will do."""
        _check_result(await _execute(tool_module, {}))

    @asynchronous
    async def test_an_empty_call_is_no_blunder(self, tool_module: Any) -> None:
        """A model forgets arguments: the tool must not stumble over them."""
        outcome = await _execute(tool_module, {})
        assert not isinstance(outcome, BLUNDERS), f"execute({{}}) raised {outcome!r}"


def _check_text(tool: Any, attribute: str) -> None:
    text = getattr(tool, attribute, None)
    assert isinstance(text, str), f"{attribute} is {type(text).__name__}, not a string"
    assert text.strip(), f"{attribute} is empty"


async def _execute(tool: Any, given: dict[str, Any]) -> Any:
    """What became of a call: a result, or what was raised."""
    try:
        return await tool.execute(given)
    except Exception as error:  # noqa: BLE001 - which ones are allowed, the tests say
        return error


def _check_result(outcome: Any) -> None:
    """A refusal may also be an exception of the tool's choice."""
    refused = isinstance(outcome, Exception) and not isinstance(outcome, BLUNDERS)
    assert refused or isinstance(outcome, ToolResult), f"execute gave {outcome!r}"


class TestToolBehavior(ToolBehaviorTests):
    """The same, for the module that `--module-path` names."""
