"""Requests, replies and their parts."""

from __future__ import annotations

import copy
import json
import pickle
import warnings
from decimal import Decimal
from typing import Any

import pytest
from pydantic import BaseModel, TypeAdapter, ValidationError

from amplifier_core import message_models
from amplifier_core.message_models import (
    ChatRequest,
    ChatResponse,
    ContentBlock,
    CostUsd,
    ImageBlock,
    Message,
    ReasoningBlock,
    RedactedThinkingBlock,
    ResponseFormatJson,
    ResponseFormatJsonSchema,
    ResponseFormatText,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolCallBlock,
    ToolResultBlock,
    Usage,
    extract_text,
)

BLOCKS: list[BaseModel] = [
    TextBlock(text="hi"),
    ThinkingBlock(thinking="hm", signature="s"),
    RedactedThinkingBlock(data="sealed"),
    ToolCallBlock(id="1", name="Bash", input={"command": "ls"}),
    ToolResultBlock(tool_call_id="1", output={"a": 1}),
    ImageBlock(source={"url": "u"}),
    ReasoningBlock(content=["a"], summary=["b"]),
]

MODELS = [
    kind
    for name, kind in vars(message_models).items()
    if isinstance(kind, type) and issubclass(kind, BaseModel) and not name.startswith("_")
    if kind is not BaseModel
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_a_block_is_known_by_its_type(block: Any) -> None:
    """A dict becomes the block it was."""
    read: Any = TypeAdapter(ContentBlock).validate_python(block.model_dump())
    assert (type(read), read) == (type(block), block)
    assert block.visibility is None


@pytest.mark.parametrize("block", [{"type": "hologram"}, {"text": "no type"}, "text"])
def test_a_block_of_no_known_type_is_refused(block: Any) -> None:
    """The message would not be understood."""
    with pytest.raises(ValidationError):
        Message(role="user", content=[block])


@pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)
def test_fields_that_nobody_knows_are_kept(kind: type[BaseModel]) -> None:
    """What a newer version or a provider adds survives being read and written."""
    whole = kind.model_construct(newer=1)
    assert kind.model_config["extra"] == "allow"
    assert whole.model_extra == {"newer": 1}


def test_the_calls_of_a_message_are_whatever_its_loop_writes() -> None:
    """Each has its own form; providers read them all."""
    calls = [{"id": "1", "tool": "Bash", "arguments": {}}, {"id": "2", "function": {"name": "x"}}]
    message = Message(role="assistant", content="", tool_calls=calls)
    assert message.model_dump()["tool_calls"] == calls
    assert "tool_calls" not in Message(role="assistant", content="").model_dump()


# What only we know


@pytest.mark.parametrize(
    ("bare", "name", "value"),
    [
        (ToolCall(id="1", name="n", arguments={}), "parse_error", "unreadable"),
        (ToolResultBlock(tool_call_id="1", output=""), "is_error", True),
        (ChatResponse(content=[]), "model", "m"),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_field_of_ours_is_there_only_if_it_was_given(bare: Any, name: str, value: Any) -> None:
    """Others see the fields that they know; set or given, it is kept like any other."""
    assert getattr(bare, name) is None
    assert name not in bare.model_dump()
    full = type(bare)(**bare.model_dump(), **{name: value})
    assert getattr(full, name) == value
    assert type(bare).model_validate(full.model_dump()) == full
    assert pickle.loads(pickle.dumps(full)) == copy.deepcopy(full) == full
    changed = bare.model_copy()
    setattr(changed, name, value)
    assert changed == full


@pytest.mark.parametrize("name", ["text", "model"])
def test_a_provider_may_declare_a_field_of_that_name(name: str) -> None:
    """Its own replies have fields that ours only have now and then."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mine: Any = type("Mine", (ChatResponse,), {"__annotations__": {name: "str"}, name: "own"})
    assert getattr(mine(content=[TextBlock(text="other")]), name) == "own"
    assert getattr(mine(content=[], **{name: "given"}), name) == "given"


# Text


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        (None, ""),
        ([], ""),
        (BLOCKS, "hi"),
        ([TextBlock(text="a"), TextBlock(text="b")], "ab"),
    ],
)
def test_text_blocks_are_the_text_of_a_content(content: Any, text: str) -> None:
    """Other blocks have none."""
    assert extract_text(content) == text


def test_a_message_and_a_reply_know_their_text() -> None:
    """Unless they were given one, which then is their text."""
    assert Message(role="user", content="x").text == "x"
    assert ChatResponse(content=[TextBlock(text="x")]).text == "x"
    assert ChatResponse(content=[TextBlock(text="x")], text="shown").text == "shown"


# Formats


def test_a_format_is_known_by_its_type() -> None:
    """A schema is written under the name that servers use, and read under either."""
    schema = ResponseFormatJsonSchema.model_validate({"schema": {}})
    for form in (ResponseFormatText(), ResponseFormatJson(), schema):
        given = {"messages": [], "response_format": form.model_dump()}
        assert ChatRequest.model_validate(given).response_format == form
    assert ResponseFormatJsonSchema(json_schema={"a": 1}).model_dump(by_alias=True) == {
        "type": "json_schema",
        "schema": {"a": 1},
        "strict": None,
    }


# Usage


def test_a_total_is_what_was_counted() -> None:
    """The provider's figure stands, whatever the sum of the others."""
    assert Usage(input_tokens=1, output_tokens=2, total_tokens=0).total_tokens == 0


class Bill(BaseModel):
    cost_usd: CostUsd = None


@pytest.mark.parametrize("cost", [Decimal("0.1"), "0.1"])
def test_it_is_a_decimal_inside_and_a_string_outside(cost: Any) -> None:
    """Every dump, for Python and for JSON."""
    bill = Bill(cost_usd=cost)
    assert type(bill.cost_usd) is Decimal
    assert bill.model_dump() == json.loads(bill.model_dump_json()) == {"cost_usd": "0.1"}
    assert Bill.model_validate(bill.model_dump()) == bill


def test_a_whole_number_will_do() -> None:
    """It has all its digits."""
    assert Bill(cost_usd=3).cost_usd == Decimal(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("cost", [0.1, 0.0, float("nan")])
def test_a_float_is_refused(cost: Any) -> None:
    """It has lost digits before anybody could look."""
    with pytest.raises(ValidationError, match="must be Decimal"):
        Bill(cost_usd=cost)


def test_unknown_is_not_zero() -> None:
    """A local model costs nothing; of others the price may not be known."""
    assert Bill().model_dump() == {"cost_usd": None}
    assert Bill(cost_usd=Decimal(0)).model_dump() == {"cost_usd": "0"}
    assert Bill() != Bill(cost_usd=Decimal(0))
