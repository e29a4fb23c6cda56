"""Messages, requests, replies and contents, in both directions."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

pytest.importorskip("pydantic_ai")

from pydantic import BaseModel, model_serializer
from pydantic_ai import (
    BinaryContent,
    ImageUrl,
    InstructionPart,
    RequestUsage,
    RunContext,
    RunUsage,
    TextContent,
    UserPromptNode,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RetryFeedbackPart,
    RetryInfo,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolAvailabilityDeltaPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.test import TestModel

from amplifier_hooks.external.messages import place_messages
from amplifier_hooks.frameworks.pydantic_ai.messages import (
    Assembly,
    Reader,
    change_reply,
    describe_content,
    find_prompt,
    make_message,
    put_content_text,
    read_calls,
    read_content_text,
    read_reply_text,
    read_usage,
    rebuild_request,
    replace_prompt,
    restore_content,
    to_json_values,
    write_reply,
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


CALL = ToolCallPart("note", '{"text": "a"}', "call_1", id="item_1")
OTHER = ToolCallPart("wipe", {"path": "/"}, "call_2")
THOUGHT = ThinkingPart("hm")
REPLY = ModelResponse(
    parts=[THOUGHT, TextPart("I "), TextPart("will."), CALL, OTHER],
    usage=RequestUsage(input_tokens=3, output_tokens=2),
)


def test_a_reply_is_a_text_and_calls() -> None:
    """Arguments are JSON, however the provider wrote them."""
    assert read_reply_text(REPLY) == "I will."
    assert read_calls(REPLY) == [
        {"id": "call_1", "name": "note", "arguments": {"text": "a"}},
        {"id": "call_2", "name": "wipe", "arguments": {"path": "/"}},
    ]
    assert read_usage(REPLY) == {
        "input_tokens": 3,
        "output_tokens": 2,
        "total_tokens": 5,
    }


def test_broken_arguments_are_shown_as_they_are() -> None:
    """Hooks see that something is wrong with them."""
    broken = ModelResponse(parts=[ToolCallPart("note", '{"text', "call_1")])
    assert read_calls(broken)[0]["arguments"] == {"INVALID_JSON": '{"text'}


def test_another_text_stands_where_the_first_stood() -> None:
    """Thoughts and calls stay as they are."""
    changed = change_reply(REPLY, "No.", None)
    assert changed.parts == [THOUGHT, TextPart("No."), CALL, OTHER]
    assert changed.usage == REPLY.usage


@pytest.mark.parametrize(
    ("parts", "left"),
    [([CALL], [TextPart("No."), CALL]), ([THOUGHT], [THOUGHT, TextPart("No.")])],
)
def test_a_text_that_was_not_there_stands_before_calls(parts: list, left: list) -> None:  # type: ignore[type-arg]
    """Or at the end."""
    assert change_reply(ModelResponse(parts=parts), "No.", None).parts == left


def test_a_removed_text_leaves_no_part() -> None:
    """Providers refuse empty texts."""
    assert change_reply(REPLY, "", None).parts == [THOUGHT, CALL, OTHER]


def test_calls_are_changed_dropped_and_added_by_their_ids() -> None:
    """A changed one is no longer the item that the provider keeps; one left alone is the same."""
    calls = [
        {"id": "call_2", "name": "wipe", "arguments": {"path": "/"}},
        {"id": "call_1", "name": "note", "arguments": {"text": "b"}},
        {"id": "call_3", "name": "note", "arguments": {"text": "c"}},
    ]
    *_, first, second, third = change_reply(REPLY, None, calls).parts
    assert isinstance(first, ToolCallPart)
    assert (first.args, first.id, first.tool_call_id) == ({"text": "b"}, None, "call_1")
    assert second is OTHER
    assert isinstance(third, ToolCallPart)
    assert (third.tool_name, third.tool_call_id) == ("note", "call_3")
    assert read_calls(change_reply(REPLY, None, [])) == []


def test_a_refused_reply_is_nothing_but_the_reason() -> None:
    """What it cost stays on record."""
    said = write_reply(REPLY, "No.")
    assert said.parts == [TextPart("No.")]
    assert said.usage == REPLY.usage


PICTURE = ImageUrl("https://example.com/cat.png")
BYTES = BinaryContent(b"secret", media_type="image/png")
MIXED = ["Who", PICTURE, TextContent("is this?"), BYTES]


def test_the_text_of_a_content_is_all_of_its_texts() -> None:
    """Files have none."""
    assert read_content_text("Hi.") == "Hi."
    assert read_content_text(None) == ""
    assert read_content_text(MIXED) == "Who\nis this?"


def test_a_new_text_stands_before_the_files() -> None:
    """A plain text is replaced."""
    assert put_content_text("Hi.", "Ho.") == "Ho."
    assert put_content_text(MIXED, "What?") == ["What?", PICTURE, BYTES]


def test_hooks_see_blocks_without_the_bytes_of_files() -> None:
    """Which kind of file, and where it is."""
    shown = describe_content(MIXED)
    assert isinstance(shown, list)
    assert shown[0] == {"type": "text", "text": "Who"}
    assert shown[1]["type"] == "image-url"
    assert shown[1]["url"] == PICTURE.url
    assert shown[3]["media_type"] == "image/png"
    assert "data" not in shown[3]


def test_what_hooks_leave_alone_is_the_same_item() -> None:
    """Only the text that changed is another one."""
    shown = describe_content(MIXED)
    assert isinstance(shown, list)
    shown[0] = {"type": "text", "text": "What"}
    left = restore_content(MIXED, shown)
    assert left[0] == "What"
    assert left[1] is PICTURE
    assert left[2] is MIXED[2]
    assert left[3] is BYTES


def test_hooks_may_drop_files_or_leave_a_plain_text() -> None:
    """What they do not leave is not sent."""
    shown = describe_content(MIXED)
    assert restore_content(MIXED, shown[:1]) == ["Who"]
    assert restore_content(MIXED, "Who?") == "Who?"


def test_what_is_no_content_is_sent_as_json() -> None:
    """Nothing that a hook wrote is lost."""
    assert restore_content("Hi.", {"a": 1}) == '{"a":1}'
    assert restore_content(MIXED, [{"type": "video", "id": 7}]) == ['{"type":"video","id":7}']


HIDDEN = ToolAvailabilityDeltaPart(tools_added=["launch"])
"""What only the framework reads."""
GO, STAY = UserPromptPart("Go."), UserPromptPart("Stay.")
ASSEMBLED: list[ModelMessage] = [
    ModelRequest(parts=[HIDDEN]),
    ModelRequest(parts=[HIDDEN, GO, HIDDEN, STAY, HIDDEN]),
    ModelResponse(parts=[TextPart("Yes.")]),
]
SHOWN = {(1, 1), (1, 3), (2, None)}


def test_hidden_parts_go_with_their_message() -> None:
    """In their places, and the whole is the same message."""
    assembly = Assembly(ASSEMBLED, SHOWN)
    assembly.keep_part(1, 1, None)
    assembly.keep_part(1, 3, None)
    assembly.keep_response(2, None)
    made = assembly.finish()
    assert all(one is other for one, other in zip(made, ASSEMBLED, strict=True))


def test_a_changed_part_stands_between_the_same_hidden_ones() -> None:
    """Nothing of the framework is lost."""
    assembly = Assembly(ASSEMBLED, SHOWN)
    assembly.keep_part(1, 1, STAY)
    made = assembly.finish()
    assert made[0] is ASSEMBLED[0]
    assert list(made[1].parts) == [HIDDEN, STAY, HIDDEN, HIDDEN]


def test_what_is_added_follows_what_stands_before_it() -> None:
    """A request in a request that is open, everything else by itself."""
    assembly = Assembly(ASSEMBLED, SHOWN)
    added = ModelRequest(parts=[UserPromptPart("First.")])
    reply = ModelResponse(parts=[TextPart("No.")])
    assembly.add(added)
    assembly.keep_part(1, 1, None)
    assembly.add(ModelRequest(parts=[STAY]))
    assembly.add(reply)
    made = assembly.finish()
    assert made[0] is added
    assert made[1] is ASSEMBLED[0]
    assert STAY in made[2].parts
    assert made[3] is reply


def test_a_message_of_which_nothing_is_left_is_gone() -> None:
    """Only messages that hooks are not shown stay by themselves."""
    assert Assembly(ASSEMBLED, SHOWN).finish() == [ASSEMBLED[0]]


class Stubborn(BaseModel):
    """Cannot be shown."""

    @model_serializer
    def fail(self) -> Any:
        """Raise what a serializer may raise."""
        raise LookupError("no")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("a", "a"),
        ({"on": date(2026, 11, 17)}, {"on": "2026-11-17"}),
        (b"text", "text"),
        (b"\x00 \x81", "ACCB"),
        (Stubborn(), "<Stubborn that cannot be shown>"),
    ],
)
def test_every_value_is_shown(value: Any, shown: Any) -> None:
    """Bytes that are no text as base64, and what cannot be shown by its name."""
    assert to_json_values(value) == shown


def test_any_object_is_shown() -> None:
    """What it is, at least."""
    assert "object" in json.dumps(to_json_values([object()]))


def make_context(prompt: str | None, *messages: ModelMessage) -> RunContext[None]:
    """A run that begins like this."""
    return RunContext[None](
        deps=None, model=TestModel(), usage=RunUsage(), prompt=prompt, messages=list(messages)
    )


ASKED = ModelRequest(parts=[UserPromptPart("Old."), UserPromptPart("Go.")])
ANSWERED = ModelResponse(parts=[TextPart("Yes.")])
RETURNED = ModelRequest(parts=[ToolReturnPart("note", "noted", "call_1")])


def test_the_argument_counts_before_the_history() -> None:
    """It is what comes last."""
    assert find_prompt(make_context("Now.", ASKED)) == "Now."


def test_the_end_of_the_history_is_a_prompt() -> None:
    """The last one in its last request."""
    assert find_prompt(make_context(None, ANSWERED, ASKED)) == "Go."


@pytest.mark.parametrize("messages", [(), (ASKED, ANSWERED), (ASKED, ANSWERED, RETURNED)])
def test_a_run_that_only_goes_on_has_none(messages: tuple[ModelMessage, ...]) -> None:
    """What was asked before is not asked again."""
    assert find_prompt(make_context(None, *messages)) is None


def test_the_argument_is_replaced_in_the_first_node() -> None:
    """In a new one."""
    node = UserPromptNode[None, str]("Go.")
    changed = replace_prompt(make_context("Go."), node, "Stay.")
    assert (changed.user_prompt, node.user_prompt) == ("Stay.", "Go.")


def test_a_prompt_of_the_history_is_replaced_there() -> None:
    """In the history of the run, not in the caller's messages."""
    ctx = make_context(None, ASKED)
    node = UserPromptNode[None, str](None)
    assert replace_prompt(ctx, node, "Stay.") is node
    assert [part.content for part in ctx.messages[0].parts] == ["Old.", "Stay."]  # type: ignore[union-attr]
    assert ASKED.parts[1].content == "Go."
