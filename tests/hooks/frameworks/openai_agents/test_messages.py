"""Messages, replies, outputs and prompts, in both directions."""

from __future__ import annotations

import copy
import warnings
from dataclasses import dataclass
from typing import Any

import pytest

pytest.importorskip("agents")

from agents import (
    AgentOutputSchema,
    AgentsException,
    InputGuardrailTripwireTriggered,
    ModelResponse,
    Usage,
)
from agents.testing import assistant_message, function_call
from agents.tool import ToolOutputImage, ToolOutputText
from openai.types.responses import ResponseReasoningItem

from amplifier_core.models import ToolResult
from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.verdicts import Called, ReplyVerdict
from amplifier_hooks.frameworks.openai_agents.messages import (
    CannotWrite,
    PromptDenied,
    change_item,
    change_output,
    change_prompt,
    is_failed,
    list_items,
    make_item,
    make_message,
    make_response,
    read_arguments,
    read_item,
    read_items,
    read_output,
    read_prompt,
    read_reply,
    read_reply_text,
    read_value,
    refuse,
    replace_output,
    stream_message,
    wants_nothing,
    write_arguments,
    write_items,
    write_output,
)

IMAGE = {"type": "input_image", "image_url": "data:x"}
CALL = {"type": "function_call", "call_id": "c1", "name": "note", "arguments": '{"text":"a"}'}
RESULT = {"type": "function_call_output", "call_id": "c1", "output": "noted a"}
SAID = {
    "type": "message",
    "id": "m1",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Hello.", "annotations": [1]}],
}

READ: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"role": "user", "content": "Hi."}, {"role": "user", "content": "Hi."}),
    (SAID, {"role": "assistant", "content": "Hello."}),
    (
        {"role": "user", "content": [{"type": "input_text", "text": "See:"}, IMAGE]},
        {"role": "user", "content": [{"type": "text", "text": "See:"}, IMAGE]},
    ),
    (
        CALL,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "c1", "name": "note", "arguments": {"text": "a"}}],
        },
    ),
    (RESULT, {"role": "tool", "tool_call_id": "c1", "content": "noted a"}),
    (
        {"type": "shell_call", "id": "s", "call_id": "c2", "action": {"commands": ["ls"]}},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {"id": "c2", "name": "shell", "arguments": {"action": {"commands": ["ls"]}}}
            ],
        },
    ),
    (
        {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "Hm."}]},
        {"role": "assistant", "content": "Hm.", "kind": "reasoning"},
    ),
]


@pytest.mark.parametrize(("item", "message"), READ)
def test_an_item_is_a_message(item: dict[str, Any], message: dict[str, Any]) -> None:
    """In the words that hooks know, and the item stays as it was."""
    before = copy.deepcopy(item)
    assert read_item(item) == message
    assert item == before


def test_instructions_are_the_first_message() -> None:
    """If there are some."""
    assert read_items("Be kind.", list_items("Hi.")) == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "Hi."},
    ]
    assert read_items(None, list_items("Hi.")) == [{"role": "user", "content": "Hi."}]


def test_what_stays_is_the_very_item() -> None:
    """Only what a hook changed is made anew; what it added stands where it put it."""
    items = [{"role": "user", "content": "Hi."}, CALL, RESULT]
    added = {"role": "user", "content": "It is Monday."}
    changed = {"role": "tool", "tool_call_id": "c1", "content": "[removed]"}
    placed = [Placed(0), Placed(1), Placed(None, added), Placed(2), Placed(3, changed)]
    instructions, written = write_items(placed, "Be kind.", items)
    assert instructions == "Be kind."
    assert written[0] is items[0]
    assert written[1] == added
    assert written[2] is CALL
    assert written[3] == {**RESULT, "output": "[removed]"}


@pytest.mark.parametrize(
    ("placed", "left"),
    [([Placed(0, {"role": "system", "content": "Be short."})], "Be short."), ([], None)],
)
def test_instructions_are_changed_or_dropped(placed: list[Placed], left: str | None) -> None:
    """As any other message."""
    assert write_items(placed, "Be kind.", []) == (left, [])


def test_a_changed_text_keeps_the_form_of_its_item() -> None:
    """Parts of a kind stay of that kind, and pictures stay."""
    changed = change_item(SAID, {"role": "assistant", "content": "Bye."})
    assert changed == {
        **SAID,
        "content": [{"type": "output_text", "text": "Bye.", "annotations": []}],
    }
    seen = {"role": "user", "content": [{"type": "input_text", "text": "See:"}, IMAGE]}
    assert change_item(seen, {"role": "user", "content": "Look:"})["content"] == [
        {"type": "input_text", "text": "Look:"},
        IMAGE,
    ]
    parts = [{"type": "text", "text": "Look:"}]
    assert change_item(seen, {"role": "user", "content": parts})["content"] == [
        {"type": "input_text", "text": "Look:"}
    ]
    assert change_item({"role": "user", "content": "a"}, {"role": "user", "content": "b"}) == {
        "role": "user",
        "content": "b",
    }


def test_the_arguments_of_an_earlier_call_are_changed() -> None:
    """The model reads what a hook left of them."""
    message = read_item(CALL)
    message["tool_calls"][0]["arguments"] = {"text": "ä"}
    assert change_item(CALL, message)["arguments"] == '{"text": "ä"}'


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"type": "reasoning", "summary": []}, {"role": "assistant", "content": "Ha."}),
        ({"type": "shell_call", "action": {}}, {"role": "assistant", "content": "Ha."}),
        (CALL, {"role": "assistant", "content": "", "tool_calls": []}),
    ],
)
def test_what_cannot_be_written_is_said(item: dict[str, Any], message: dict[str, Any]) -> None:
    """Rather than dropped."""
    with pytest.raises(CannotWrite, match="a hook changed"):
        change_item(item, message)


def test_only_speakers_can_be_added() -> None:
    """A result without a call is nothing that the SDK can send."""
    assert make_item({"role": "system", "content": "Be kind."})["role"] == "system"
    with pytest.raises(CannotWrite, match="'tool'"):
        make_item({"role": "tool", "content": "found"})


@pytest.mark.parametrize(
    ("raw", "read"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("[1]", {"input": "[1]"}), ("{a", {"input": "{a"})],
)
def test_arguments_are_read_and_written(raw: str, read: dict[str, Any]) -> None:
    """What nobody changes is the very text."""
    assert read_arguments(raw) == read
    assert write_arguments(read, raw) == raw
    assert write_arguments({"a": "ö"}, raw) == '{"a": "ö"}'


REPLY_SAID: Any = assistant_message("I note it.")
NOTE: Any = function_call("note", '{"text":  "a"}', call_id="c1")
WIPE: Any = function_call("wipe", {"path": "/"}, call_id="c2")
THOUGHT = ResponseReasoningItem(id="r", type="reasoning", summary=[])
SHELL = {"type": "shell_call", "call_id": "c3", "action": {"commands": ["ls"]}}
SEARCH = {"type": "web_search_call", "id": "w", "status": "completed"}


def test_a_reply_is_its_text_and_its_calls() -> None:
    """What the service has done by itself is no call of ours."""
    usage = Usage(input_tokens=3, output_tokens=2, total_tokens=5)
    reply = read_reply([THOUGHT, SEARCH, REPLY_SAID, NOTE, SHELL], usage, "gpt-x", 0.25)
    assert reply.text == "I note it."
    assert reply.calls == [
        {"id": "c1", "name": "note", "arguments": {"text": "a"}},
        {"id": "c3", "name": "shell", "arguments": {"action": {"commands": ["ls"]}}},
    ]
    assert reply.usage == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    assert (reply.model, reply.duration_ms, reply.finish_reason) == ("gpt-x", 250, "tool_calls")


def test_only_a_reply_that_wants_nothing_is_an_answer() -> None:
    """What the service has done is done."""
    assert wants_nothing([THOUGHT, SEARCH, REPLY_SAID])
    assert not wants_nothing([REPLY_SAID, SHELL])


def test_a_changed_text_stands_where_the_first_was() -> None:
    """All else stays the very objects."""
    left = change_output(
        [THOUGHT, REPLY_SAID, NOTE, REPLY_SAID], ReplyVerdict(True, text="Nearly.")
    )
    assert [left[0], left[2]] == [THOUGHT, NOTE]
    assert read_reply_text(left) == "Nearly."
    assert len(left) == 3
    assert change_output([REPLY_SAID], ReplyVerdict(True, text="")) == []


def test_changed_calls_keep_their_place() -> None:
    """By id; a new one comes last, and who was left alone is the very object."""
    calls = [
        {"id": "c1", "name": "note", "arguments": {"text": "a"}},
        {"id": "c2", "name": "wipe", "arguments": {"path": "/tmp"}},
        {"id": "c9", "name": "note", "arguments": {"text": "b"}},
    ]
    left = change_output([THOUGHT, NOTE, WIPE], ReplyVerdict(True, calls=calls))
    assert left[0] is THOUGHT
    assert left[1] is NOTE
    assert (left[2].call_id, left[2].arguments) == ("c2", '{"path": "/tmp"}')
    assert (left[3].call_id, left[3].name) == ("c9", "note")
    assert WIPE.arguments == '{"path":"/"}'


def test_a_thought_goes_with_the_call_that_it_was_about() -> None:
    """The service refuses one without the other."""
    assert change_output([THOUGHT, REPLY_SAID, WIPE], ReplyVerdict(True, calls=[])) == [REPLY_SAID]


def test_only_functions_can_be_called_otherwise() -> None:
    """Any other call is kept or dropped."""
    other = {"id": "c3", "name": "shell", "arguments": {"action": {"commands": ["pwd"]}}}
    with pytest.raises(CannotWrite, match="'shell_call', which can only be dropped"):
        change_output([SHELL], ReplyVerdict(True, calls=[other]))
    assert change_output([SHELL], ReplyVerdict(True, calls=[])) == []


def test_a_refusal_fits_the_output_of_the_agent() -> None:
    """A text, or where no text fits, the SDK's own refusal."""
    assert read_reply_text([refuse("no", None)]) == "no"
    assert read_reply_text([refuse("no", AgentOutputSchema(str))]) == "no"
    typed = refuse("no", AgentOutputSchema(dict[str, int], strict_json_schema=False))
    assert [one.type for one in typed.content] == ["refusal"]


def test_an_unchanged_response_is_the_very_one() -> None:
    """With its identity, its usage and all."""
    response = ModelResponse([REPLY_SAID], Usage(), "r1", "q1")
    assert replace_output(response, response.output) is response
    other = replace_output(response, [NOTE])
    assert (other.response_id, other.request_id, other.output) == ("r1", "q1", [NOTE])


def test_a_message_is_streamed_as_a_model_streams() -> None:
    """From its beginning to the response that has it."""
    events = list(stream_message(make_message("no")))
    kinds = [one.type for one in events]
    assert kinds == [
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    last: Any = events[-1]
    assert read_reply_text(last.response.output) == "no"
    assert [one.sequence_number for one in events] == list(range(7))
    assert read_reply_text(make_response(make_message("no")).output) == "no"


@dataclass
class Point:
    """A value of an application."""

    x: int


class Odd:
    """A value that JSON cannot hold."""

    def __str__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ("text", "text"),
        (None, None),
        (7, 7),
        ({"a": 1}, {"a": 1}),
        (Point(3), {"x": 3}),
        (ToolOutputText(text="a"), {"type": "text", "text": "a"}),
        (
            [ToolOutputImage(image_url="x"), "b"],
            [{"type": "image", "image_url": "x"}, "b"],
        ),
        (Odd(), "odd"),
    ],
)
def test_hooks_see_values_of_json(value: Any, seen: Any) -> None:
    """Whatever a tool returns."""
    assert read_value(value) == seen
    assert read_output(value).output == seen


def test_a_value_of_the_wrong_type_is_read_without_a_warning() -> None:
    """It would say what is in it, to whoever reads warnings."""
    odd = ToolOutputText.model_construct(text=7)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_value(odd)["text"] == 7


def test_an_untouched_result_is_the_very_object() -> None:
    """Nothing is made of it."""
    value = Odd()
    assert write_output(Called(read_output(value), value, ran=True)) is value


def test_a_changed_result_keeps_its_form() -> None:
    """A text stays a text."""
    made = ToolResult(output={"a": 1})
    assert isinstance(write_output(Called(made, "text", ran=True, changed=True)), str)
    assert write_output(Called(made, {"a": 0}, ran=True, changed=True)) == {"a": 1}


def test_a_denial_is_its_reason() -> None:
    """Before the call and after it."""
    denied = ToolResult.refused("no")
    for called in (Called(denied), Called(denied, {"a": 0}, ran=True, changed=True)):
        assert is_failed(called)
        assert write_output(called) == called.text
    assert not is_failed(Called(ToolResult(output="a"), "a", ran=True))


BEFORE = {"role": "user", "content": "Hi."}
PROMPT_SAID = {"role": "assistant", "content": "Hello."}
ASKED = {"role": "user", "content": [{"type": "input_text", "text": "Buy milk."}]}


@pytest.mark.parametrize(
    ("given", "prompt"),
    [
        ("Buy milk.", "Buy milk."),
        ([BEFORE, PROMPT_SAID, ASKED], "Buy milk."),
        ([BEFORE, PROMPT_SAID], "Hi."),
        ([PROMPT_SAID], ""),
        ([], ""),
    ],
)
def test_the_prompt_is_what_the_user_said_last(given: Any, prompt: str) -> None:
    """In a text, and in a list."""
    assert read_prompt(given) == prompt


def test_another_prompt_stands_in_its_place() -> None:
    """The list itself stays as it was, for who gave it to us."""
    given = [BEFORE, PROMPT_SAID, ASKED]
    changed = change_prompt(given, "Buy oat milk.")
    assert changed[:2] == given[:2]
    assert changed[2]["content"] == [{"type": "input_text", "text": "Buy oat milk."}]
    assert given[2] is ASKED
    assert read_prompt(given) == "Buy milk."
    assert change_prompt("Buy milk.", "Buy oat milk.") == "Buy oat milk."
    assert change_prompt([PROMPT_SAID], "Hi.") == [
        PROMPT_SAID,
        {"role": "user", "content": "Hi."},
    ]


def test_a_denial_is_an_error_of_the_sdk() -> None:
    """Handlers of guardrails catch it, and its text is the reason alone."""
    error = PromptDenied("not today")
    assert isinstance(error, InputGuardrailTripwireTriggered)
    assert isinstance(error, AgentsException)
    assert str(error) == "not today"
    assert error.guardrail_result.output.tripwire_triggered
    assert error.guardrail_result.guardrail.get_name() == "amplifier"
