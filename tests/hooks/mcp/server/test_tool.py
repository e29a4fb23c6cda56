"""A tool of the server."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field

from amplifier_core.errors import AmplifierError
from amplifier_hooks.mcp.server.tool import Arguments, Refused, Result, Tool


def test_a_refusal_is_an_error_to_be_read() -> None:
    """The command line shows such errors as a sentence."""
    assert isinstance(Refused("No session 'x'"), AmplifierError)
    assert str(Refused("No session 'x'")) == "No session 'x'"


class Given(Arguments):
    """Some arguments."""

    title: str = Field(max_length=5, description="A title.")
    limit: int = Field(3, ge=1)


class Got(Result):
    """Some answer."""

    title: str


async def run(arguments: Given) -> Got:
    return Got(summary="Done.", title=arguments.title * arguments.limit)


TOOL = Tool("repeat", "Repeat", "Repeats.", Given, Got, run)


async def test_valid_arguments_get_an_answer() -> None:
    """What is left out has its default."""
    assert await TOOL.call({"title": "ab"}) == Got(summary="Done.", title="ababab")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (None, "title: Field required"),
        ({"title": 5}, "title: Input should be a valid string"),
        ({"title": "a", "limit": "3"}, "limit: Input should be a valid integer"),
        ({"title": "a", "limit": True}, "limit: Input should be a valid integer"),
        ({"title": "too long"}, "title: String should have at most 5 characters"),
        ({"title": "a", "limt": 3}, "limt: Extra inputs are not permitted"),
        ([1], "arguments: Input should be a valid dictionary"),
    ],
)
async def test_wrong_arguments_are_refused_by_name(arguments: Any, told: str) -> None:
    """Nothing is converted, and nothing unknown passed over."""
    with pytest.raises(Refused, match=f"^repeat: {told}"):
        await TOOL.call(arguments)


async def test_a_refusal_does_not_repeat_what_was_given() -> None:
    """It may be a secret, or long."""
    with pytest.raises(Refused) as refused:
        await TOOL.call({"title": "correct-horse-battery"})
    assert "horse" not in str(refused.value)


def test_schemas_have_no_made_up_titles_and_allow_nothing_more() -> None:
    """A member that is called title stays."""
    assert TOOL.input_schema == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "maxLength": 5, "description": "A title."},
            "limit": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
        "additionalProperties": False,
    }
    assert TOOL.output_schema["properties"]["title"] == {"type": "string"}
