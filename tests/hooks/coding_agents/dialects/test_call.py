"""An event as the hook of another agent is to see it."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_hooks.coding_agents.dialects.dialect import Call, read_text


def make_call(**data: Any) -> Call:
    return Call("tool:post", "PostToolUse", data, "session-1", "/project")


def test_a_call_without_a_tool_has_an_empty_one() -> None:
    """Events that are about no tool have no name, no id and no input."""
    call = make_call()
    assert (call.tool, call.tool_call_id, call.input) == ("", "", {})


def test_the_input_is_a_copy_and_an_earlier_hook_may_have_replaced_it() -> None:
    """In a lane each hook sees what the one before made of the input."""
    given = {"command": "ls"}
    call = make_call(tool_name="Bash", tool_call_id="c-1", tool_input=given)
    assert (call.tool, call.tool_call_id, call.input) == ("Bash", "c-1", given)
    assert call.input is not given
    later = Call("e", "n", call.data, "s", "/", tool_input={"command": "pwd"})
    assert later.input == {"command": "pwd"}


@pytest.mark.parametrize("given", [None, "ls", ["ls"], 7])
def test_an_input_that_is_no_object_is_an_empty_one(given: Any) -> None:
    """Hooks may rely on an object."""
    assert make_call(tool_input=given).input == {}


def test_a_response_is_an_object_in_any_case() -> None:
    """A bare output counts as a success."""
    result = {"success": False, "output": None}
    assert make_call(tool_result=result).response == result
    assert make_call(tool_result="out").response == {"success": True, "output": "out"}
    assert make_call().response == {"success": True, "output": None}


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"error": {"type": "OSError", "message": "disk full"}}, "disk full"),
        ({"error": {"type": "OSError"}}, "{'type': 'OSError'}"),
        ({"error": "boom"}, "boom"),
        ({"tool_result": {"success": False, "error": "no such file"}}, "no such file"),
        ({"error": "first", "tool_result": {"error": "second"}}, "first"),
        ({}, ""),
    ],
)
def test_the_error_is_a_sentence_wherever_it_stands(data: dict[str, Any], expected: str) -> None:
    """Beside the result or in it, as a text or as an object."""
    assert make_call(**data).error == expected


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"final_message": {"content": "done"}}, "done"),
        ({"final_message": {"content": [{"text": "a"}, "odd", {"text": "b"}, {}]}}, "ab"),
        ({"result": {"output": "of the sub-agent"}}, "of the sub-agent"),
        ({"final_message": {}, "result": {"output": "other"}}, "other"),
        ({"final_message": "text"}, ""),
        ({"final_message": {"content": None}}, ""),
        ({}, ""),
    ],
)
def test_the_last_message_is_text_from_the_loop_or_from_a_sub_agent(
    data: dict[str, Any], expected: str
) -> None:
    """Blocks are joined, and what is no text is left out."""
    assert make_call(**data).last_message == expected


def test_what_is_no_message_has_no_text() -> None:
    """Events may carry anything."""
    assert read_text(None) == read_text(7) == read_text([{"text": "a"}]) == ""
