"""Arguments: the JSON that hooks judge, and the objects that a tool gets."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import SecretStr
from pydantic_ai import FunctionToolset, RunContext, RunUsage, ToolFailed, ToolsetTool
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.models.test import TestModel

from amplifier_hooks.frameworks.pydantic_ai.tools import (
    describe_arguments,
    matches_arguments,
    validate_arguments,
)

CTX = RunContext[None](deps=None, model=TestModel(), usage=RunUsage(), tool_name="book")


async def find_tool() -> ToolsetTool[None]:
    """A tool that takes objects."""

    def book(day: date, key: SecretStr, seats: int = 1) -> str:
        return "booked"

    toolset = FunctionToolset[None]([book])
    return (await toolset.get_tools(CTX))["book"]


SAID = {"day": "2026-11-17", "key": "k"}


def parse(tool: ToolsetTool[None], said: dict[str, Any]) -> dict[str, Any]:
    """What the framework makes of a call."""
    validated: dict[str, Any] = tool.args_validator.validate_python(said)
    return validated


async def test_the_models_own_json_is_shown_if_it_is_what_will_run() -> None:
    """Also if the model wrote it as a text."""
    tool = await find_tool()
    call = ToolCallPart("book", '{"day": "2026-11-17", "key": "k"}')
    assert describe_arguments(call, parse(tool, SAID), tool, CTX) == SAID


async def test_objects_that_are_something_else_are_shown_as_json() -> None:
    """Whoever changed them: what will run is shown, not what was said."""
    tool = await find_tool()
    validated = {**parse(tool, SAID), "day": date(2026, 12, 24)}
    shown = describe_arguments(ToolCallPart("book", SAID), validated, tool, CTX)
    assert shown["day"] == "2026-12-24"
    assert describe_arguments(None, validated, tool, CTX)["day"] == "2026-12-24"


async def test_objects_that_cannot_be_compared_are_shown_as_json() -> None:
    """A foreign comparison that fails counts as another value."""

    class Odd:
        def __eq__(self, other: object) -> bool:
            raise ArithmeticError("no")

        __hash__ = None  # type: ignore[assignment]

    tool = await find_tool()
    validated = {**parse(tool, SAID), "seats": Odd()}
    shown = describe_arguments(ToolCallPart("book", SAID), validated, tool, CTX)
    assert "Odd" in str(shown["seats"])


async def test_json_that_means_other_objects_is_told_apart() -> None:
    """A secret is masked in JSON, so its JSON is not the secret."""
    tool = await find_tool()
    validated = parse(tool, SAID)
    assert matches_arguments(SAID, validated, tool, CTX)
    assert not matches_arguments({**SAID, "key": "**********"}, validated, tool, CTX)
    assert not matches_arguments(SAID, validated, None, CTX)


async def test_changed_json_is_parsed_like_that_of_a_model() -> None:
    """Dates are texts in JSON."""
    tool = await find_tool()
    parsed = await validate_arguments({**SAID, "day": "2026-12-24"}, tool, CTX)
    assert parsed["day"] == date(2026, 12, 24)


async def test_json_that_the_tool_does_not_take_is_explained() -> None:
    """Which tool, which value, and what is wrong with it."""
    tool = await find_tool()
    with pytest.raises(ToolFailed, match=r"book was not run: .*someday.* day: Input should be"):
        await validate_arguments({**SAID, "day": "someday"}, tool, CTX)


async def test_json_that_nobody_can_check_does_not_run() -> None:
    """There is no validator."""
    with pytest.raises(ToolFailed, match="cannot be checked"):
        await validate_arguments(SAID, None, CTX)
