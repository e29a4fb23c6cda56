"""Requests: as messages, and with what hooks made of them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("google.adk")

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from amplifier_hooks.external.messages import Placed, place_messages
from amplifier_hooks.frameworks.google_adk.messages import (
    change_calls,
    change_request,
    read_request,
    read_tool_names,
)


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
