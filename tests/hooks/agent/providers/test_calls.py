"""Tool calls as models write them: whatever the arguments are, there is a call to answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import ChatResponse, Message, TextBlock, ToolCall, ToolCallBlock
from amplifier_hooks.agent.providers.calls import find_calls, list_stored_calls, read_call


@given(st.dictionaries(st.text(), st.integers() | st.text() | st.none()))
def test_arguments_are_read_from_text_and_from_objects(arguments: dict[str, Any]) -> None:
    """Some servers send JSON text, others objects."""
    for written in (json.dumps(arguments), arguments):
        call = read_call("a", "Bash", written)
        assert (call.id, call.arguments, call.parse_error) == ("a", arguments, None)


@pytest.mark.parametrize("nothing", [None, "", "{}", {}])
def test_no_arguments_are_an_empty_input(nothing: Any) -> None:
    """A tool without parameters is called without them."""
    assert read_call("a", "Now", nothing).arguments == {}


@given(st.text() | st.lists(st.integers()) | st.integers() | st.booleans())
def test_nothing_a_model_writes_is_an_exception(written: Any) -> None:
    """What cannot be read becomes a `parse_error` that the model reads."""
    call = read_call("a", "Bash", written)
    assert (call.parse_error is None) == isinstance(_parse(written), dict)
    assert call.parse_error is None or call.arguments == {}


def _parse(written: Any) -> Any:
    try:
        return json.loads(written or "{}") if isinstance(written, str) else written
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ('{"command": "ls', "cannot be read"),
        ('["ls"]', "a JSON object is needed, not list"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_the_sentence_names_the_tool_and_shows_a_part(written: str, words: str) -> None:
    """Enough to mend it, and no more than a line."""
    error = read_call("a", "Bash", written).parse_error or ""
    assert words in error
    assert "'Bash'" in error
    assert len(error) < 400


def test_a_call_without_an_id_gets_one() -> None:
    """Some servers leave them out; two are never the same."""
    one, two = read_call(None, "A", None), read_call("", "A", None)
    assert one.id.startswith("call_")
    assert one.id != two.id


def test_calls_are_found_wherever_a_reply_keeps_them() -> None:
    """In `tool_calls`, or only in its content."""
    call = ToolCall(id="a", name="Bash", arguments={"n": 1})
    block = ToolCallBlock(id="a", name="Bash", input={"n": 1})
    text = TextBlock(text="x")
    assert find_calls(ChatResponse(content=[text], tool_calls=[call])) == [call]
    assert find_calls(ChatResponse(content=[text, block])) == [call]
    assert find_calls(ChatResponse(content=[block], tool_calls=[])) == []


@pytest.mark.parametrize(
    "stored",
    [
        {"id": "1", "name": "Bash", "arguments": {"n": 1}},
        {"id": "1", "tool": "Bash", "arguments": {"n": 1}},
        {"id": "1", "name": "Bash", "input": {"n": 1}},
        {"id": "1", "type": "function", "function": {"name": "Bash", "arguments": '{"n": 1}'}},
        ToolCall(id="1", name="Bash", arguments={"n": 1}),
    ],
)
def test_stored_calls_are_read_in_every_form(stored: Any) -> None:
    """Loops of other authors write them in other words."""
    message = Message(role="assistant", content="", tool_calls=[stored])
    assert list_stored_calls(message) == [ToolCall(id="1", name="Bash", arguments={"n": 1})]


@pytest.mark.parametrize("stored", [None, [], "none", 5])
def test_without_a_list_there_are_no_stored_calls(stored: Any) -> None:
    """The field is not checked: anything may stand there."""
    assert list_stored_calls(Message(role="assistant", content="", tool_calls=stored)) == []
    assert list_stored_calls(Message(role="assistant", content="")) == []


@pytest.mark.parametrize("stored", [7, {}, {"id": "1", "arguments": "{"}])
def test_a_stored_call_that_cannot_be_read_still_is_one(stored: Any) -> None:
    """Its result needs a call to belong to."""
    (call,) = list_stored_calls(Message(role="assistant", content="", tool_calls=[stored]))
    assert (call.name, call.arguments) == ("", {})
    assert call.id
