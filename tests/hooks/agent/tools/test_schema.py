"""The JSON schema of a tool's input."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from amplifier_hooks.agent.tools.base import build_schema


class Inner(BaseModel):
    title: str = Field(description="A field that is called like a keyword")
    kind: Literal["a", "b"] = "a"


class Outer(BaseModel):
    needed: int = Field(ge=1, description="How many")
    maybe: str | None = Field(None, description="May be left out")
    one: Inner = Field(description="Just one")
    many: list[Inner] | None = None
    short: bool = Field(False, alias="-s")


SCHEMA: dict[str, Any] = build_schema(Outer)
INNER = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "description": "A field that is called like a keyword"},
        "kind": {"type": "string", "enum": ["a", "b"], "default": "a"},
    },
    "required": ["title"],
}


def test_a_schema_is_an_object_that_takes_no_other_keys() -> None:
    """A model that makes up a key is told so."""
    assert SCHEMA["type"] == "object"
    assert SCHEMA["additionalProperties"] is False
    assert SCHEMA["required"] == ["needed", "one"]


def test_limits_and_descriptions_stay() -> None:
    """They are what a model goes by."""
    assert SCHEMA["properties"]["needed"] == {
        "type": "integer",
        "minimum": 1,
        "description": "How many",
    }


def test_a_value_that_may_be_left_out_has_a_plain_type() -> None:
    """Some servers do not take a union with null, nor null as a default."""
    expected = {"type": "string", "description": "May be left out"}
    assert SCHEMA["properties"]["maybe"] == expected


def test_a_reference_is_replaced_by_what_it_stands_for() -> None:
    """With the description of the place where it stood."""
    assert SCHEMA["properties"]["one"] == {**INNER, "description": "Just one"}
    assert SCHEMA["properties"]["many"] == {"type": "array", "items": INNER}
    assert "$ref" not in str(SCHEMA)
    assert "$defs" not in SCHEMA


def test_titles_are_dropped_but_not_a_field_of_that_name() -> None:
    """Generated titles say nothing that the name does not."""
    assert "title" not in SCHEMA
    assert "title" in SCHEMA["properties"]["one"]["properties"]


def test_a_field_has_the_name_that_a_model_uses() -> None:
    """Which may be no name of Python's."""
    assert SCHEMA["properties"]["-s"] == {"type": "boolean", "default": False}


def test_a_schema_can_be_changed_by_whoever_asked_for_it() -> None:
    """The next one is as it was."""
    build_schema(Outer)["properties"].clear()
    assert build_schema(Outer) == SCHEMA
