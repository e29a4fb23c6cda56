"""What tools answer with, and what the agent reads of it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from amplifier_core.message_models import ImageBlock, TextBlock
from amplifier_core.models import ToolResult, add_comments, read_changed_result, read_tool_result


class Moody:
    """A value that cannot be written."""

    def __str__(self) -> str:
        raise RuntimeError("not today")

    __repr__ = __str__


def circle() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def test_nothing_given_is_a_success_without_output() -> None:
    """The defaults, and all that a dump has."""
    assert ToolResult().model_dump() == {"success": True, "output": None, "error": None}


@pytest.mark.parametrize("error", ["plain", {"message": "no", "code": 5}, {"code": 5}, {}, None])
def test_an_error_stays_what_was_given(error: Any) -> None:
    """Callers read the code, the type or whatever else the tool knew."""
    assert ToolResult(success=False, output="x", error=error).error == error


@pytest.mark.parametrize("error", [5, ["no"], ValueError("no")])
def test_an_error_of_another_kind_is_refused(error: Any) -> None:
    """A sentence or a dict: nobody could read anything else."""
    with pytest.raises(ValidationError):
        ToolResult(success=False, error=error)


@pytest.mark.parametrize(
    ("given_fields", "output"),
    [
        ({"success": False, "error": {"message": "no"}}, "no"),
        ({"success": False, "output": "part", "error": {"message": "no"}}, "part"),
        ({"success": True, "error": {"message": "no"}}, None),
        ({"success": False, "error": {"code": 5}}, None),
        ({"success": False, "error": {"message": ""}}, None),
        ({"success": False, "error": "no"}, None),
    ],
)
def test_the_message_of_an_error_is_the_output_of_a_tool_without_one(
    given_fields: dict[str, Any], output: str | None
) -> None:
    """Only of one that failed, and only a message that is there."""
    assert ToolResult(**given_fields).output == output
    assert ToolResult.model_validate(given_fields).output == output


def test_a_wrong_success_is_refused_before_the_error_is_read() -> None:
    """An error beside another wrong value is no exception of its own."""
    with pytest.raises(ValidationError, match="success"):
        ToolResult(success="perhaps", error={"message": "no"})  # type: ignore[arg-type]


def test_a_refusal_knows_that_it_is_one() -> None:
    """By a field: a tool may use the same words."""
    refused = ToolResult.refused("Operation denied by guard: no")
    assert (refused.success, refused.denied) == (False, True)
    assert refused.error == refused.get_serialized_output() == "Operation denied by guard: no"
    assert refused.model_dump()["denied"] is True
    assert ToolResult.model_validate(refused.model_dump()) == refused
    failed = ToolResult.failed("Operation denied by guard: no")
    assert (failed.success, failed.denied) == (False, False)
    assert failed.get_serialized_output() == "Operation denied by guard: no"


def test_content_is_kept_in_blocks_and_left_out_when_empty() -> None:
    """Pictures go beside the text."""
    blocks: list[TextBlock | ImageBlock] = [TextBlock(text="a"), ImageBlock(source={"url": "u"})]
    assert ToolResult(content=blocks).content == blocks
    read = ToolResult.model_validate(ToolResult(content=blocks).model_dump())
    assert read.content == blocks
    assert "content" not in ToolResult(content=[]).model_dump()
    assert "content" not in ToolResult().model_dump_json()


@pytest.mark.parametrize(
    ("result", "shown"),
    [
        (ToolResult(), "Success"),
        (ToolResult(output="done"), "done"),
        (ToolResult(output=""), "Success"),
        (ToolResult(output=0), "0"),
        (ToolResult(output={"a": 1}), "{'a': 1}"),
        (ToolResult(success=False), "Failed"),
        (ToolResult(success=False, error={}), "Failed"),
        (ToolResult(success=False, error={"message": "no", "code": 5}), "Error: no"),
        (ToolResult(success=False, error={"message": 5}), "Error: 5"),
        (ToolResult(success=False, error="no"), "Error: no"),
        (ToolResult.failed("no"), "Error: no"),
    ],
)
def test_as_text_it_says_how_it_went(result: ToolResult, shown: str) -> None:
    """For logs and for people."""
    assert str(result) == shown


@pytest.mark.parametrize(
    ("result", "written"),
    [
        (ToolResult(), "Success"),
        (ToolResult(output="text"), "text"),
        (ToolResult(output=""), ""),
        (ToolResult(output={"ü": [1, None]}), '{"ü": [1, null]}'),
        (ToolResult(output=[Decimal("0.10")]), '["0.10"]'),
        (ToolResult(output={"when": Moody}), '{"when": "' + str(Moody) + '"}'),
        (ToolResult(output=True), "True"),
        (ToolResult(output=Decimal("0.10")), "0.10"),
        (ToolResult(output=(1, 2)), "(1, 2)"),
        (ToolResult(output=circle()), "[[...]]"),
        (ToolResult(success=False), "Error: the tool failed without saying why"),
        (ToolResult(success=False, error="no"), "Error: no"),
        (ToolResult(success=False, error={"code": 5}), "Error: {'code': 5}"),
        (ToolResult(success=False, error={"message": "no"}), "no"),
        (ToolResult(success=False, output="part", error="no"), "part"),
    ],
)
def test_the_agent_reads_the_output_or_what_happened(result: ToolResult, written: str) -> None:
    """JSON where there is structure, words elsewhere."""
    assert result.get_serialized_output() == written


@pytest.mark.parametrize(("output", "kind"), [(Moody(), "Moody"), ({"a": Moody()}, "dict")])
def test_what_cannot_be_written_is_described(output: Any, kind: str) -> None:
    """A class that raises costs its text only."""
    written = ToolResult(output=output).get_serialized_output()
    assert written == f"<{kind} whose repr raised RuntimeError>"


@pytest.mark.parametrize(
    ("output", "written"),
    [
        ("a\tb\nc\rd", "a\tb\nc\rd"),
        ("a\x00b\x07c\x1b[31md\x7fe", "abc[31mde"),
        ("\u00a0\u0085x\x9b", "\u00a0x"),
        ("\ud800a\udcffé😀", "aé😀"),
        ({"a": "\x00é"}, '{"a": "\\u0000é"}'),
    ],
)
def test_what_no_model_takes_is_left_out(output: Any, written: str) -> None:
    """Raw control characters and halves of characters; what JSON escapes is not raw."""
    assert ToolResult(output=output).get_serialized_output() == written


@given(st.text())
def test_every_text_can_be_sent(text: str) -> None:
    """What is left is the text in its order, and can be encoded."""
    written = ToolResult(output=text).get_serialized_output()
    assert written.encode("utf-8").decode("utf-8") == written
    assert written == "".join(one for one in text if one in written)


def test_what_a_tool_or_a_hook_hands_back_is_read() -> None:
    """A dict with the fields of a result is one; anything else is the output."""
    given = ToolResult(output="x")
    assert read_tool_result(given) is given
    assert read_tool_result({"success": False, "error": "no"}).error == "no"
    assert read_tool_result({"success": True, "more": 1}).output == {"success": True, "more": 1}
    assert read_tool_result("text").output == "text"


def test_what_hooks_left_is_read_or_refused():
    """A result that cannot be one is a failure that says so."""
    assert read_changed_result({"success": True, "output": "new"}).output == "new"
    refused = read_changed_result({"success": "perhaps"})
    assert not refused.success
    assert str(refused.error).startswith("A hook left no usable result: ValidationError")


def test_what_a_person_said_stands_before_the_result():
    """Everything that was said, and the result itself is left alone."""
    result = ToolResult(output="done")
    found = add_comments(result, ("use b", "be quick"))
    assert found.output == "The user allowed this and said: use b; be quick\n\ndone"
    assert result.output == "done"


@pytest.mark.parametrize(
    "text", ["plain", "two\nlines", "bell\x07", "caf\u00e9", "\ud800", "\x85", ""]
)
def test_only_what_models_do_not_take_is_dropped(text):
    """Whichever way the text goes."""
    kept = [c for c in text if c in "\t\n\r" or not (ord(c) < 32 or 0x7F <= ord(c) <= 0x9F)]
    wanted = "".join(kept).encode("utf-8", "ignore").decode()
    assert ToolResult(output=text).get_serialized_output() == wanted
