"""Requests: as messages, and with what hooks made of them."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("strands")

from strands.middleware import InvokeModelContext

from amplifier_hooks.external.messages import Placed, place_messages
from amplifier_hooks.frameworks.strands.messages import (
    change_calls,
    change_request,
    read_model_name,
    read_request,
    read_tools,
)


def make_request(**more: Any) -> InvokeModelContext:
    """A conversation with two calls at once."""
    uses = [{"toolUse": {"toolUseId": f"c{n}", "name": "note", "input": {"n": n}}} for n in (1, 2)]
    results = [
        {"toolResult": {"toolUseId": f"c{n}", "status": "success", "content": [{"text": f"{n}!"}]}}
        for n in (1, 2)
    ]
    messages: Any = [
        {"role": "user", "content": [{"text": "Note both."}], "metadata": {"custom": {"id": 1}}},
        {"role": "assistant", "content": [{"text": "I will."}, *uses]},
        {"role": "user", "content": results},
    ]
    given: Any = {
        "agent": None,
        "messages": messages,
        "system_prompt": "Be short.",
        "tool_specs": [{"name": "note"}],
        "tool_choice": None,
        "invocation_state": {},
        "model": None,
        **more,
    }
    return InvokeModelContext(**given)


def change(request: InvokeModelContext, edit: Any) -> Any:
    """Have a hook edit the messages."""
    pieces = read_request(request)
    before = [piece.message for piece in pieces]
    after = edit([dict(one) for one in before])
    return change_request(request, pieces, place_messages(before, after))


def test_every_result_is_a_message_by_itself() -> None:
    """Hooks see the conversation in the form of all other frameworks."""
    messages = [piece.message for piece in read_request(make_request())]
    assert [one["role"] for one in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert [one["content"] for one in messages] == [
        "Be short.",
        "Note both.",
        "I will.",
        "1!",
        "2!",
    ]
    assert messages[2]["tool_calls"][1] == {"id": "c2", "name": "note", "arguments": {"n": 2}}
    assert messages[4]["tool_call_id"] == "c2"


def test_tools_and_the_model_are_named() -> None:
    """A model that has no name has none."""

    class Named:
        config = {"model_id": "m-1"}

    request = make_request()
    assert [one.name for one in read_tools(request)] == ["note"]
    assert read_model_name(request) is None
    assert read_model_name(make_request(model=Named())) == "m-1"


def test_a_system_prompt_of_blocks_is_read() -> None:
    """With the marks that some models want in it."""
    said = [{"text": "Be short."}, {"cachePoint": {"type": "default"}}]
    request = make_request(system_prompt=said)
    assert read_request(request)[0].message["content"] == "Be short."
    kept = change(request, lambda all: [*all, {"role": "user", "content": "Hurry."}])
    assert kept.system_prompt == said


def test_the_system_prompt_is_changed_and_removed() -> None:
    """It is no message, but hooks may change it."""

    def edit(messages: list[Any]) -> list[Any]:
        messages[0]["content"] = "Be long."
        return messages

    assert change(make_request(), edit).system_prompt == "Be long."
    assert change(make_request(), lambda all: all[1:]).system_prompt is None


def test_one_of_two_results_is_changed() -> None:
    """Both stay in one message, and the agent's own stays as it was."""
    request = make_request()

    def edit(messages: list[Any]) -> list[Any]:
        messages[3]["content"] = "[removed]"
        return messages

    blocks = change(request, edit).messages[2]["content"]
    assert [one["toolResult"]["content"] for one in blocks] == [
        [{"text": "[removed]"}],
        [{"text": "2!"}],
    ]
    assert request.messages[2]["content"][0]["toolResult"]["content"] == [{"text": "1!"}]  # type: ignore[comparison-overlap]


def test_what_else_a_message_has_stays_with_it() -> None:
    """The framework keeps marks beside the content."""

    def edit(messages: list[Any]) -> list[Any]:
        messages[1]["content"] = "Note one."
        return messages

    changed = change(make_request(), edit).messages[0]
    assert changed["content"] == [{"text": "Note one."}]
    assert changed["metadata"] == {"custom": {"id": 1}}


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_an_added_message_joins_its_neighbour(role: str) -> None:
    """Users and assistants take turns."""
    added = {"role": role, "content": "Hurry."}
    behind = change(make_request(), lambda all: [*all, added]).messages
    assert [one["role"] for one in behind] == ["user", "assistant", "user"]
    assert behind[2]["content"][2] == {"text": "Hurry."}
    before = change(make_request(), lambda all: [all[0], added, *all[1:]]).messages
    assert [one["role"] for one in before] == ["user", "assistant", "user"]
    assert before[0]["content"] == [{"text": "Hurry."}, {"text": "Note both."}]


def test_an_assistant_can_be_quoted() -> None:
    """A message that a hook adds in the model's name is one of the model."""
    said = {"role": "assistant", "content": "I said so."}
    messages = change(make_request(), lambda all: [*all, said]).messages
    assert messages[-1] == {"role": "assistant", "content": [{"text": "I said so."}]}


def test_a_message_without_content_is_left_out() -> None:
    """No model takes an empty one."""

    def edit(messages: list[Any]) -> list[Any]:
        messages[1]["content"] = ""
        return messages

    assert change(make_request(), edit).messages[0]["role"] == "assistant"


def test_calls_are_changed_added_and_left_alone() -> None:
    """An equal one stays the same object, a changed one keeps what is beside it."""
    block = {"toolUse": {"toolUseId": "c1", "name": "note", "input": {"n": 1}, "mark": "x"}}
    same = {"id": "c1", "name": "note", "arguments": {"n": 1}}
    assert change_calls([block], [same])[0] is block
    (changed,) = change_calls([block], [{**same, "arguments": {"n": 2}}])
    assert changed["toolUse"] == {**block["toolUse"], "input": {"n": 2}}
    (typed,) = change_calls([block], [{**same, "arguments": {"n": True}}])
    assert typed["toolUse"]["input"]["n"] is True
    (added,) = change_calls([], [{"id": "c9", "name": "wipe", "arguments": {}}])
    assert added == {"toolUse": {"toolUseId": "c9", "name": "wipe", "input": {}}}


def test_a_call_in_the_history_is_changed() -> None:
    """With the rest of what the model said."""

    def edit(messages: list[Any]) -> list[Any]:
        calls = [dict(one) for one in messages[2]["tool_calls"]]
        calls[0]["arguments"] = {"n": 3}
        return [*messages[:2], {**messages[2], "tool_calls": calls}, *messages[3:]]

    blocks = change(make_request(), edit).messages[1]["content"]
    assert blocks[0] == {"text": "I will."}
    assert [one["toolUse"]["input"] for one in blocks[1:]] == [{"n": 3}, {"n": 2}]


def test_a_request_that_nobody_reads_is_not_taken_apart() -> None:
    """What hooks of other events add is placed all the same, and all else stays."""
    request = make_request()
    pieces = read_request(request, in_full=False)
    assert len(pieces) == 4
    added = Placed(None, {"role": "user", "content": "Hurry."})
    placed = [*(Placed(number) for number in range(4)), added]
    changed: Any = change_request(request, pieces, placed)
    assert changed.messages[:2] == request.messages[:2]
    assert changed.messages[2]["content"][2] == {"text": "Hurry."}
    assert changed.system_prompt == "Be short."
