"""Contents, requests and replies, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("strands")

from strands.middleware import InvokeModelContext, ModelStopReason

from amplifier_core.models import ToolResult
from amplifier_hooks.external.messages import Placed, place_messages
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.strands.messages import (
    change_answer,
    change_calls,
    change_reply,
    change_request,
    is_answer,
    make_plain,
    read_arguments,
    read_block_text,
    read_model_name,
    read_reply,
    read_request,
    read_result,
    read_text,
    read_tools,
    replace_text,
    write_refusal,
    write_result,
)

IMAGE = {"image": {"format": "png", "source": {"bytes": b"\xff"}}}


def test_text_is_read_without_thoughts() -> None:
    """What the model thinks is nobody's answer."""
    thought = {"reasoningContent": {"reasoningText": {"text": "hm"}}}
    assert read_text([thought, {"text": "a"}, IMAGE, {"text": "b"}]) == "ab"
    assert read_text(None) == ""


def test_a_text_stands_in_the_place_of_the_first() -> None:
    """Several texts become one; a text where there was none comes first."""
    blocks: list[Any] = [IMAGE, {"text": "a"}, {"text": "b"}, IMAGE]
    assert replace_text(blocks, "c") == [IMAGE, {"text": "c"}, IMAGE]
    assert replace_text(blocks, "") == [IMAGE, IMAGE]
    assert replace_text([], "c") == [{"text": "c"}]


class Odd:
    """What no JSON holds."""

    def __repr__(self) -> str:
        return "<odd>"


def test_any_value_can_be_shown_to_hooks() -> None:
    """Bytes, and objects of the program."""
    assert make_plain({"raw": b"\xff", "odd": Odd()}) == {"raw": "_w==", "odd": "<odd>"}
    circle: list[Any] = []
    circle.append(circle)
    assert isinstance(make_plain(circle), str)


@pytest.mark.parametrize(
    ("given", "shown"),
    [({"a": 1}, {"a": 1}), ("{}", {"input": "{}"}), ([1], {"input": [1]}), (None, {})],
)
def test_hooks_always_see_an_object_as_input(given: Any, shown: Any) -> None:
    """A model may send something else."""
    assert read_arguments(given) == shown


def make_result(*blocks: Any, status: str = "success") -> Any:
    """A result of a tool."""
    return {"toolUseId": "c1", "status": status, "content": list(blocks)}


@pytest.mark.parametrize(
    ("result", "output"),
    [
        (make_result({"text": "a"}, {"text": "b"}), "a\nb"),
        (make_result({"json": {"rows": [1]}}), {"rows": [1]}),
        (make_result(), ""),
        ({"at": 1}, {"at": 1}),
        ("plain", "plain"),
    ],
)
def test_hooks_see_the_text_or_the_value_of_a_result(result: Any, output: Any) -> None:
    """And not the form that the framework gives it."""
    read = read_result(result)
    assert read.output == output
    assert read.success


def test_other_blocks_are_shown_as_they_are() -> None:
    """With what JSON cannot hold written out."""
    blocks = read_result(make_result({"text": "a"}, IMAGE)).output
    assert blocks[0] == {"text": "a"}
    assert blocks[1]["image"]["source"]["bytes"] == "_w=="


def test_an_error_is_a_failure() -> None:
    """With its text."""
    read = read_result(make_result({"text": "no disk"}, status="error"))
    assert (read.success, read.error) == (False, "no disk")


def test_a_result_in_a_request_is_text() -> None:
    """A value is written as JSON."""
    assert read_block_text([{"text": "a"}]) == "a"
    assert read_block_text([{"json": {"rows": [1]}}]) == '{"rows": [1]}'


@pytest.mark.parametrize(
    ("result", "status", "block"),
    [
        (ToolResult.refused("denied"), "error", {"text": "denied"}),
        (ToolResult.failed("no"), "error", {"text": "no"}),
        (ToolResult(output="a"), "success", {"text": "a"}),
        (ToolResult(output={"rows": []}), "success", {"json": {"rows": []}}),
        (ToolResult(output=[1]), "success", {"text": "[1]"}),
    ],
)
def test_a_result_of_hooks_becomes_one_of_the_framework(
    result: ToolResult, status: str, block: Any
) -> None:
    """A refusal is an error that the model reads."""
    assert write_result(result, "c1") == make_result(block, status=status)


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


USE: Any = {"toolUse": {"toolUseId": "c1", "name": "note", "input": {"text": "a"}}}
USAGE: Any = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12, "cacheReadInputTokens": 3}


def make_reply(*blocks: Any, reason: Any = "tool_use") -> ModelStopReason:
    """A reply."""
    content = list(blocks) or [{"text": "I note it."}, USE]
    message: Any = {"role": "assistant", "content": content}
    return ModelStopReason(reason, message, USAGE, {"latencyMs": 1})


def test_hooks_see_text_calls_and_tokens() -> None:
    """In our words."""
    reply = read_reply(make_reply(), "m-1", 12)
    assert reply.text == "I note it."
    assert reply.calls == [{"id": "c1", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {
        "input_tokens": 7,
        "output_tokens": 5,
        "total_tokens": 12,
        "cache_read_tokens": 3,
    }
    assert (reply.model, reply.finish_reason, reply.duration_ms) == ("m-1", "tool_use", 12)


def test_a_reply_without_calls_is_an_answer() -> None:
    """Whatever the model says about why it stopped."""
    assert is_answer(make_reply({"text": "Done."}, reason="max_tokens"))
    assert not is_answer(make_reply())


def test_the_text_alone_is_changed() -> None:
    """The call stays the same object, and so does what the reply has cost."""
    before = make_reply()
    after = change_reply(before, ReplyVerdict(True, text="Noted."))
    assert after.message["content"] == [{"text": "Noted."}, USE]
    assert after.message["content"][1] is USE
    assert (after.stop_reason, after.usage) == ("tool_use", USAGE)
    assert before.message["content"][0] == {"text": "I note it."}


def test_a_reply_without_its_calls_ends_the_turn() -> None:
    """The framework looks at the reason."""
    after = change_reply(make_reply(), ReplyVerdict(True, calls=[]))
    assert after.message["content"] == [{"text": "I note it."}]
    assert after.stop_reason == "end_turn"


def test_a_reply_that_gets_a_call_goes_on() -> None:
    """The framework runs it."""
    call = {"id": "c2", "name": "wipe", "arguments": {}}
    after = change_reply(
        make_reply({"text": "Done."}, reason="end_turn"), ReplyVerdict(True, calls=[call])
    )
    assert after.stop_reason == "tool_use"


def test_a_refusal_is_a_reply_without_calls() -> None:
    """It ends the turn; that of a reply costs what the reply has cost."""
    assert write_refusal("no").message["content"] == [{"text": "no"}]
    assert write_refusal("no").usage["totalTokens"] == 0
    refused = write_refusal("no", make_reply())
    assert refused.message["content"] == [{"text": "no"}]
    assert (refused.stop_reason, refused.usage) == ("end_turn", USAGE)


def test_another_answer_is_a_text() -> None:
    """What hooks left of it."""
    before = make_reply({"text": "Done."}, reason="end_turn")
    assert change_answer(before, "Nearly.").message["content"] == [{"text": "Nearly."}]
