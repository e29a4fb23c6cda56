"""The output of a model as a reply that hooks read, and back."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agents")

from agents import AgentOutputSchema, ModelResponse, Usage
from agents.testing import assistant_message, function_call
from openai.types.responses import ResponseReasoningItem

from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.openai_agents.messages import (
    CannotWrite,
    change_output,
    make_message,
    make_response,
    read_reply,
    read_reply_text,
    refuse,
    replace_output,
    stream_message,
    wants_nothing,
)

SAID: Any = assistant_message("I note it.")
NOTE: Any = function_call("note", '{"text":  "a"}', call_id="c1")
WIPE: Any = function_call("wipe", {"path": "/"}, call_id="c2")
THOUGHT = ResponseReasoningItem(id="r", type="reasoning", summary=[])
SHELL = {"type": "shell_call", "call_id": "c3", "action": {"commands": ["ls"]}}
SEARCH = {"type": "web_search_call", "id": "w", "status": "completed"}


def test_a_reply_is_its_text_and_its_calls() -> None:
    """What the service has done by itself is no call of ours."""
    usage = Usage(input_tokens=3, output_tokens=2, total_tokens=5)
    reply = read_reply([THOUGHT, SEARCH, SAID, NOTE, SHELL], usage, "gpt-x", 0.25)
    assert reply.text == "I note it."
    assert reply.calls == [
        {"id": "c1", "name": "note", "arguments": {"text": "a"}},
        {"id": "c3", "name": "shell", "arguments": {"action": {"commands": ["ls"]}}},
    ]
    assert reply.usage == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    assert (reply.model, reply.duration_ms, reply.finish_reason) == ("gpt-x", 250, "tool_calls")


def test_only_a_reply_that_wants_nothing_is_an_answer() -> None:
    """What the service has done is done."""
    assert wants_nothing([THOUGHT, SEARCH, SAID])
    assert not wants_nothing([SAID, SHELL])


def test_a_changed_text_stands_where_the_first_was() -> None:
    """All else stays the very objects."""
    left = change_output([THOUGHT, SAID, NOTE, SAID], ReplyVerdict(True, text="Nearly."))
    assert [left[0], left[2]] == [THOUGHT, NOTE]
    assert read_reply_text(left) == "Nearly."
    assert len(left) == 3
    assert change_output([SAID], ReplyVerdict(True, text="")) == []


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
    assert change_output([THOUGHT, SAID, WIPE], ReplyVerdict(True, calls=[])) == [SAID]


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
    response = ModelResponse([SAID], Usage(), "r1", "q1")
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
