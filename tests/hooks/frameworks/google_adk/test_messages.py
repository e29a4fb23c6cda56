"""Contents, requests, replies and answers, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from pydantic import BaseModel

from amplifier_core.models import ToolResult
from amplifier_hooks.external.messages import Placed, place_messages
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.google_adk.messages import (
    change_answer,
    change_calls,
    change_reply,
    change_request,
    make_content,
    make_plain,
    read_answer,
    read_reply,
    read_request,
    read_response,
    read_text,
    read_tool_names,
    read_value,
    replace_text,
    write_refusal,
    write_value,
)


def test_text_is_read_without_thoughts() -> None:
    """What the model thinks is nobody's answer."""
    parts = [types.Part(text="hm", thought=True), types.Part(text="a"), types.Part(text="b")]
    assert read_text(parts) == "ab"
    assert read_text(None) == ""


def test_a_text_stands_in_the_place_of_the_first() -> None:
    """Several texts become one; a text where there was none comes first."""
    image = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    content = types.Content(parts=[image, types.Part(text="a"), types.Part(text="b"), image])
    assert [part.text for part in replace_text(content, "c").parts] == [None, "c", None]
    assert [part.text for part in replace_text(content, "").parts] == [None, None]
    assert [part.text for part in replace_text(types.Content(), "c").parts] == ["c"]


def test_a_content_of_one_text() -> None:
    """With its role."""
    assert (make_content("model", "a").role, read_text(make_content("model", "a").parts)) == (
        "model",
        "a",
    )


class Found(BaseModel):
    """What a tool may return."""

    data: bytes = b"x"


class Odd:
    """What no JSON holds."""

    def __repr__(self) -> str:
        return "<odd>"


def test_any_value_can_be_shown_to_hooks() -> None:
    """Models, bytes and whatever else a tool returns."""
    shown = make_plain({"found": Found(), "raw": b"\xff", "odd": Odd()})
    assert shown == {"found": {"data": "x"}, "raw": "_w==", "odd": "<odd>"}
    assert "Found" in make_plain(Found(data=b"\xff"))


@pytest.mark.parametrize(
    ("value", "success"),
    [("ok", True), ({"rows": []}, True), ({"error": ""}, True), ({"error": "no"}, False)],
)
def test_an_error_makes_a_failure(value: Any, success: bool) -> None:
    """As tools of this framework report it."""
    assert read_value(value).success is success


@pytest.mark.parametrize(
    ("result", "given"),
    [
        (ToolResult.refused("Operation denied by a: b"), {"error": "Operation denied by a: b"}),
        (ToolResult.failed("no"), {"error": "no"}),
        (ToolResult(success=False, output={"error": "no", "code": 1}), {"error": "no", "code": 1}),
        (ToolResult(output="text"), "text"),
        (ToolResult(output=[1]), [1]),
        (ToolResult(output=None), "Success"),
    ],
)
def test_a_result_of_hooks_becomes_one_of_the_framework(result: ToolResult, given: Any) -> None:
    """A refusal is an error that the model reads."""
    assert write_value(result) == given


def test_a_response_is_read_as_text() -> None:
    """A plain result is its text, all else is JSON."""
    plain = types.FunctionResponse(response={"result": "a"})
    assert read_response(plain) == "a"
    assert read_response(types.FunctionResponse(response={"rows": [1]})) == '{"rows": [1]}'


def make_request() -> LlmRequest:
    """A conversation with two calls at once."""
    calls = [
        types.Part(function_call=types.FunctionCall(id=f"c{one}", name="note", args={"n": one}))
        for one in (1, 2)
    ]
    results = [
        types.Part(
            function_response=types.FunctionResponse(
                id=f"c{one}", name="note", response={"result": f"noted {one}"}
            )
        )
        for one in (1, 2)
    ]
    return LlmRequest(
        model="m",
        contents=[
            types.Content(role="user", parts=[types.Part(text="Note both.")]),
            types.Content(role="model", parts=[types.Part(text="I will."), *calls]),
            types.Content(role="user", parts=results),
        ],
        config=types.GenerateContentConfig(system_instruction="Be short."),
    )


def change(request: LlmRequest, edit: Any) -> LlmRequest:
    """Have a hook edit the messages."""
    pieces = read_request(request)
    before = [piece.message for piece in pieces]
    after = edit([dict(one) for one in before])
    change_request(request, pieces, place_messages(before, after))
    return request


def test_every_result_is_a_message_by_itself() -> None:
    """Hooks see the conversation in the form of all other frameworks."""
    messages = [piece.message for piece in read_request(make_request())]
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [one["content"] for one in messages] == [
        "Be short.",
        "Note both.",
        "I will.",
        "noted 1",
        "noted 2",
    ]
    assert [one["id"] for one in messages[2]["tool_calls"]] == ["c1", "c2"]
    assert messages[4]["tool_call_id"] == "c2"


def test_the_tools_are_named() -> None:
    """Hooks see what the model may call."""
    request = make_request()
    request.tools_dict = {"note": object()}  # type: ignore[dict-item]
    assert read_tool_names(request) == ["note"]


def test_what_is_not_changed_stays_the_same_object() -> None:
    """A message that a hook adds moves the others, and copies none."""
    request = make_request()
    before = list(request.contents)
    change(request, lambda all: [*all, {"role": "system", "content": "Hurry."}])
    assert all(one is other for one, other in zip(request.contents, before, strict=False))
    assert request.contents[-1].role == "user"
    assert request.contents[-1].parts[0].text == "Hurry."
    assert request.config.system_instruction == "Be short."


def test_one_of_two_results_is_changed() -> None:
    """Both stay in one content, as the model's service wants it."""
    request = make_request()

    def edit(messages: list[Any]) -> list[Any]:
        messages[3]["content"] = "[removed]"
        return messages

    parts = change(request, edit).contents[2].parts
    assert [one.function_response.response for one in parts] == [
        {"result": "[removed]"},
        {"result": "noted 2"},
    ]
    assert [one.function_response.id for one in parts] == ["c1", "c2"]


def test_instructions_are_changed_and_removed() -> None:
    """They are no content of the conversation, but hooks may change them."""

    def edit(messages: list[Any]) -> list[Any]:
        messages[0]["content"] = "Be long."
        return messages

    assert change(make_request(), edit).config.system_instruction == "Be long."
    assert change(make_request(), lambda all: all[1:]).config.system_instruction is None


@pytest.mark.parametrize(
    "said",
    [
        types.Content(parts=[types.Part(text="Be short.")]),
        types.Part(text="Be short."),
        ["Be ", types.Part(text="short.")],
    ],
)
def test_instructions_come_in_several_forms(said: Any) -> None:
    """Hooks read the text of each."""
    request = LlmRequest(config=types.GenerateContentConfig(system_instruction=said))
    assert read_request(request)[0].message["content"] == "Be short."


def test_text_beside_an_image_is_changed_alone() -> None:
    """What hooks cannot read stays where it is."""
    image = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
    content = types.Content(role="user", parts=[image, types.Part(text="My PIN is 4711.")])
    request = LlmRequest(contents=[content])

    def edit(messages: list[Any]) -> list[Any]:
        messages[0]["content"] = "My PIN is hidden."
        return messages

    parts = change(request, edit).contents[0].parts
    assert parts[0] is image
    assert parts[1].text == "My PIN is hidden."
    assert content.parts[1].text == "My PIN is 4711.", "the framework's own stays as it was"


def test_a_message_is_dropped() -> None:
    """A hook may shorten the conversation."""
    request = change(make_request(), lambda all: all[:2])
    assert [one.role for one in request.contents] == ["user"]


def test_a_call_in_the_history_is_changed() -> None:
    """With the rest of what the model said."""

    def edit(messages: list[Any]) -> list[Any]:
        calls = [dict(one) for one in messages[2]["tool_calls"]]
        calls[0]["arguments"] = {"n": 3}
        return [*messages[:2], {**messages[2], "tool_calls": calls}, *messages[3:]]

    parts = change(make_request(), edit).contents[1].parts
    assert parts[0].text == "I will."
    assert [one.function_call.args for one in parts[1:]] == [{"n": 3}, {"n": 2}]


def test_a_changed_call_keeps_what_the_model_put_beside_it() -> None:
    """Some models refuse a call without the signature of their thoughts."""
    call = types.FunctionCall(name="note", args={"n": 1})
    part = types.Part(function_call=call, thought_signature=b"signed")
    wanted = {"id": "call-0", "name": "note", "arguments": {"n": 2}}
    (changed,) = change_calls([part], [wanted])
    assert changed.thought_signature == b"signed"
    assert changed.function_call.args == {"n": 2}
    assert call.args == {"n": 1}


def test_a_call_that_a_hook_adds_is_made() -> None:
    """A hook may have another tool called as well."""
    (made,) = change_calls([], [{"id": "x", "name": "wipe", "arguments": {}}])
    assert made.function_call.name == "wipe"


def test_an_assistant_can_be_quoted() -> None:
    """A message that a hook adds in the model's name is one of the model."""
    request = make_request()
    pieces = read_request(request)
    said = Placed(None, {"role": "assistant", "content": "I said so."})
    change_request(request, pieces, [Placed(0), said])
    assert [one.role for one in request.contents] == ["model"]


def test_a_request_that_nobody_reads_is_not_taken_apart() -> None:
    """What hooks of other events add is placed all the same, and all else stays."""
    request = make_request()
    before, pieces = list(request.contents), read_request(request, in_full=False)
    assert len(pieces) == 4
    added = Placed(None, {"role": "user", "content": "Hurry."})
    change_request(request, pieces, [*(Placed(number) for number in range(4)), added])
    assert all(one is other for one, other in zip(request.contents, before, strict=False))
    assert request.contents[3].parts[0].text == "Hurry."
    assert request.config.system_instruction == "Be short."


def test_a_change_of_type_alone_is_a_change() -> None:
    """For Python 1 equals True; for a tool it may not."""
    part = types.Part(function_call=types.FunctionCall(id="c", name="note", args={"n": True}))
    (changed,) = change_calls([part], [{"id": "c", "name": "note", "arguments": {"n": 1}}])
    assert changed.function_call.args["n"] is not True


def make_reply() -> LlmResponse:
    """A thought, a text and a call."""
    parts = [
        types.Part(text="hm", thought=True),
        types.Part(text="I note it."),
        types.Part(function_call=types.FunctionCall(name="note", args={"text": "a"})),
    ]
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=7, candidates_token_count=5, total_token_count=12
    )
    return LlmResponse(
        content=types.Content(role="model", parts=parts),
        usage_metadata=usage,
        finish_reason=types.FinishReason.STOP,
        model_version="m-1",
    )


def test_hooks_see_text_calls_and_tokens() -> None:
    """Without the model's thoughts."""
    reply = read_reply(make_reply(), 12)
    assert reply.text == "I note it."
    assert reply.calls == [{"id": "call-0", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    assert (reply.model, reply.finish_reason, reply.duration_ms) == ("m-1", "stop", 12)


def test_a_reply_without_content_is_empty() -> None:
    """An error of the model's service has no text."""
    reply = read_reply(LlmResponse(error_code="500"), 0)
    assert (reply.text, reply.calls, reply.usage) == ("", [], {})


def test_the_text_alone_is_changed() -> None:
    """The call and the thought stay as they are."""
    before = make_reply()
    after = change_reply(before, ReplyVerdict(True, text="Noted."))
    assert [part.text for part in after.content.parts] == ["hm", "Noted.", None]
    assert after.content.parts[2] is before.content.parts[2]
    assert before.content.parts[1].text == "I note it."
    assert after.usage_metadata is before.usage_metadata


def test_calls_are_changed_and_removed() -> None:
    """An empty list leaves none."""
    calls = [{"id": "call-0", "name": "note", "arguments": {"text": "b"}}]
    changed = change_reply(make_reply(), ReplyVerdict(True, calls=calls))
    assert changed.content.parts[2].function_call.args == {"text": "b"}
    removed = change_reply(make_reply(), ReplyVerdict(True, calls=[]))
    assert not [part for part in removed.content.parts if part.function_call]


def test_a_refusal_is_a_reply_without_calls() -> None:
    """It ends the turn."""
    parts = write_refusal("against the rules").content.parts
    assert [part.text for part in parts] == ["against the rules"]


def make_event(*parts: types.Part, **more: Any) -> Event:
    """An event of an agent."""
    content = types.Content(role="model", parts=list(parts))
    return Event(author=more.pop("author", "agent"), content=content, **more)


CALL = types.Part(function_call=types.FunctionCall(name="note", args={}))


@pytest.mark.parametrize(
    ("event", "text"),
    [
        (make_event(types.Part(text="Done.")), "Done."),
        (make_event(types.Part(text="Do"), partial=True), ""),
        (make_event(types.Part(text="I note it."), CALL), ""),
        (make_event(types.Part(text="Do it."), author="user"), ""),
        (Event(author="agent"), ""),
    ],
)
def test_only_what_ends_a_turn_is_an_answer(event: Event, text: str) -> None:
    """Not pieces of a stream, not what is said before a call, not what the user said."""
    assert read_answer(event) == text


def test_another_answer_is_everywhere() -> None:
    """Also where the framework keeps it for the next agent; all else stays."""
    actions = EventActions(state_delta={"said": "Done.", "count": 1})
    event = make_event(types.Part(text="Done."), actions=actions)
    changed = change_answer(event, "Done.", "Nearly.")
    assert changed.content.parts[0].text == "Nearly."
    assert changed.actions.state_delta == {"said": "Nearly.", "count": 1}
    assert event.actions.state_delta["said"] == "Done."
    assert changed.id == event.id
