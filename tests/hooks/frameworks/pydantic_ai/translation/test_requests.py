"""Requests to a model."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, model_serializer
from pydantic_ai import InstructionPart
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from amplifier_hooks.external.messages import place_messages
from amplifier_hooks.frameworks.pydantic_ai.messages import (
    Reader,
    make_message,
    rebuild_request,
)

INSTRUCTIONS = [InstructionPart(content="Be brief."), InstructionPart(content="Be kind.")]
MESSAGES: list[ModelMessage] = [
    ModelRequest(parts=[SystemPromptPart("You help."), UserPromptPart("Go.")]),
    ModelResponse(parts=[TextPart("Yes."), ToolCallPart("note", {"text": "a"}, "call_1")]),
    ModelRequest(parts=[ToolReturnPart("note", {"done": True}, "call_1")]),
]
PLAIN: list[dict[str, Any]] = [
    {"role": "system", "content": "Be brief.\n\nBe kind."},
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "Go."},
    {
        "role": "assistant",
        "content": "Yes.",
        "tool_calls": [{"id": "call_1", "name": "note", "arguments": {"text": "a"}}],
    },
    {"role": "tool", "tool_call_id": "call_1", "name": "note", "content": '{"done":true}'},
]


def rebuild(after: list[dict[str, Any]]) -> tuple[list[ModelMessage], Any]:
    """What is sent if hooks leave this."""
    items = Reader().list_items(MESSAGES, INSTRUCTIONS)
    placed = place_messages([item.plain for item in items], after)
    return rebuild_request(MESSAGES, INSTRUCTIONS, items, placed)


def test_hooks_see_each_part_as_a_message() -> None:
    """The instructions come first."""
    items = Reader().list_items(MESSAGES, INSTRUCTIONS)
    assert [item.plain for item in items] == PLAIN


def test_a_result_that_is_no_text_is_shown() -> None:
    """What becomes of it is between the framework and the model."""

    class Stubborn(BaseModel):
        @model_serializer
        def fail(self) -> Any:
            raise ValueError("no")

    request = ModelRequest(parts=[ToolReturnPart("read", Stubborn(), "call_1")])
    (item,) = Reader().list_items([request], None)
    assert "Stubborn that cannot be shown" in item.plain["content"]


def test_feedback_of_the_framework_is_a_message() -> None:
    """As the model reads it; what hooks make of it is not framed a second time."""
    retry: RetryInfo[Any] = RetryInfo(cause="model_retry")
    feedback: list[ModelMessage] = [
        ModelRequest(parts=[RetryFeedbackPart("Try again.", retry=retry)])
    ]
    items = Reader().list_items(feedback, None)
    (plain,) = [item.plain for item in items]
    assert plain["role"] == "user"
    assert "Try again." in plain["content"]
    placed = place_messages([plain], [{**plain, "content": "Stop."}])
    sent, _ = rebuild_request(feedback, None, items, placed)
    assert [part.content for part in sent[0].parts] == ["Stop."]  # type: ignore[union-attr]
    assert isinstance(sent[0].parts[0], UserPromptPart)


def test_what_hooks_leave_alone_is_the_same() -> None:
    """Every message and the instructions."""
    sent, instructions = rebuild(list(PLAIN))
    assert all(one is other for one, other in zip(sent, MESSAGES, strict=True))
    assert instructions is INSTRUCTIONS


def test_a_changed_part_changes_only_its_message() -> None:
    """And the framework's own messages not at all."""
    sent, _ = rebuild([*PLAIN[:2], {"role": "user", "content": "Stay."}, *PLAIN[3:]])
    assert [part.content for part in sent[0].parts] == ["You help.", "Stay."]  # type: ignore[union-attr]
    assert sent[1] is MESSAGES[1]
    assert MESSAGES[0].parts[1].content == "Go."  # type: ignore[union-attr]


def test_changed_results_replies_and_instructions() -> None:
    """Each in its place."""
    said = {**PLAIN[3], "content": "No."}
    result = {**PLAIN[4], "content": "removed"}
    system = {"role": "system", "content": "Be quiet."}
    sent, instructions = rebuild([system, *PLAIN[1:3], said, result])
    assert [part.content for part in instructions] == ["Be quiet."]
    assert sent[1].parts[0] == TextPart("No.")
    assert sent[1].parts[1] is MESSAGES[1].parts[1]
    part = sent[2].parts[0]
    assert isinstance(part, ToolReturnPart)
    assert (part.content, part.tool_call_id) == ("removed", "call_1")


def test_dropped_messages_are_not_sent() -> None:
    """Instructions included."""
    sent, instructions = rebuild(PLAIN[2:3])
    assert [part.content for part in sent[0].parts] == ["Go."]  # type: ignore[union-attr]
    assert len(sent) == 1
    assert instructions == []


def test_an_added_message_joins_the_request_before_it() -> None:
    """Two requests in a row would be two turns of the user for some providers."""
    sent, _ = rebuild([*PLAIN, {"role": "system", "content": "Lint: line 3"}])
    assert len(sent) == 3
    assert sent[2].parts[0] is MESSAGES[2].parts[0]
    assert sent[2].parts[1].content == "Lint: line 3"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("role", "kind"),
    [("system", SystemPromptPart), ("user", UserPromptPart), ("assistant", TextPart)],
)
def test_an_added_message_has_the_role_that_a_hook_gave_it(role: str, kind: type) -> None:
    """As the framework writes it."""
    made = make_message({"role": role, "content": [{"type": "text", "text": "Hi."}]})
    (part,) = made.parts
    assert isinstance(part, kind)
    assert part.content == "Hi."  # type: ignore[attr-defined]


def test_a_message_is_read_once_unless_it_changes() -> None:
    """The framework puts a new list of parts into a message that it changes."""
    reader, message = Reader(), ModelRequest(parts=[UserPromptPart("Go.")])
    first = reader.list_items([message], None)
    assert reader.list_items([message], None)[0] is first[0]
    message.parts = [*message.parts, UserPromptPart("Now.")]
    changed = reader.list_items([message, *MESSAGES[1:]], None)
    assert [item.plain["content"] for item in changed[:3]] == ["Go.", "Now.", "Yes."]
    assert [item.message for item in changed] == [0, 0, 1, 2]
    shorter = reader.list_items(MESSAGES[1:], None)
    assert [item.message for item in shorter] == [0, 1]
