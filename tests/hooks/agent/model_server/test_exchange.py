"""The exchange: the model, the tokens and the ids of one reply."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.message_models import Usage
from amplifier_hooks.agent.model_server import Reply, ScriptedCall
from amplifier_hooks.agent.model_server.exchange import (
    Exchange,
    Malformed,
    count_replies,
    format_event,
    parse_body,
    read_last_words,
    read_object,
    read_objects,
    read_text,
    require_text,
    split_arguments,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
NAMES = st.sampled_from(["role", "content", "text", "output"])
ODD_MESSAGES = st.lists(
    st.dictionaries(
        NAMES, JSON | st.lists(st.dictionaries(NAMES, JSON, max_size=4), max_size=3), max_size=4
    ),
    max_size=4,
)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{,}",
        b"[1]",
        b'"text"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        rb'{"model": "\ud800"}',
    ],
    ids=["nothing", "broken", "list", "string", "no text", "deep", "very deep", "half a letter"],
)
def test_what_is_no_usable_object_is_an_empty_one(content: bytes) -> None:
    """Depth is bounded, and half a character could not be sent back."""
    assert parse_body(content) == {}


@given(st.dictionaries(st.text(max_size=5), JSON))
def test_a_json_object_is_read_as_it_is(body: dict[str, Any]) -> None:
    """What comes out is what went in."""
    assert json.dumps(parse_body(json.dumps(body).encode())) == json.dumps(body)


READERS: list[tuple[Callable[[dict[str, Any], str], Any], tuple[type, ...]]] = [
    (read_text, (str, type(None))),
    (require_text, (str,)),
    (read_object, (dict,)),
    (read_objects, (list,)),
]


@given(st.sampled_from(READERS), JSON)
def test_a_field_is_of_its_type_or_the_request_is_malformed(reader: Any, value: Any) -> None:
    """No value of any type gets through as another, and none ends in another exception."""
    read, kinds = reader
    with suppress(Malformed):
        assert isinstance(read({"field": value}, "field"), kinds)


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ({}, "'field' must be a list, not an object"),
        ("x", "'field' must be a list, not a string"),
        (7, "'field' must be a list, not 7"),
        ([{}, []], "'field.1' must be an object, not a list"),
    ],
)
def test_the_sentence_says_what_is_there_instead(value: Any, sentence: str) -> None:
    """Whoever wrote the request learns which field to mend."""
    with pytest.raises(Malformed) as refusal:
        read_objects({"field": value}, "field")
    assert str(refusal.value) == sentence


def test_what_is_missing_is_empty_unless_it_must_be_there() -> None:
    """Most fields of a request are optional."""
    assert read_text({}, "x") is None
    assert read_object({}, "x") == {}
    assert read_objects({"x": None}, "x") == []
    with pytest.raises(Malformed, match="'x' is missing"):
        require_text({}, "x")


def test_the_last_words_are_all_that_was_said_since_the_reply() -> None:
    """Text of strings, of parts, and of what lies in parts."""
    result = {"type": "tool_result", "content": [{"type": "text", "text": "two"}]}
    messages = [
        {"role": "user", "content": "zero"},
        {"role": "assistant", "content": "reply"},
        {"role": "user", "content": "one"},
        {"role": "user", "content": [result, {"type": "text", "text": "three"}]},
        {"role": "user", "content": {"text": "four"}},
    ]
    assert read_last_words({"messages": messages}) == "one\ntwothree\nfour"
    assert count_replies({"messages": messages}) == 1


@given(ODD_MESSAGES)
def test_reading_never_fails_on_what_a_message_holds(messages: list[dict[str, Any]]) -> None:
    """Whatever lies in content and output, the text in it is found or there is none."""
    body = {"messages": messages}
    assert isinstance(read_last_words(body), str)
    assert count_replies(body) == sum(m.get("role") == "assistant" for m in messages)


@given(st.dictionaries(st.text(), st.text()))
def test_an_event_is_one_line_of_data(data: dict[str, str]) -> None:
    """Whatever the text holds, an event ends where it should and nowhere else."""
    frame = format_event(data, "name")
    head, line, *rest = frame.split(b"\n")
    assert (head, rest) == (b"event: name", [b"", b""])
    assert json.loads(line.removeprefix(b"data: ")) == data


def test_an_event_may_have_no_name_and_no_json() -> None:
    """Chat Completions ends its streams so."""
    assert format_event("[DONE]") == b"data: [DONE]\n\n"


@given(st.text(), st.integers(1, 20))
def test_no_character_of_the_arguments_is_lost(text: str, size: int) -> None:
    """The pieces are the text, and none is longer than asked for."""
    pieces = list(split_arguments(text, size))
    assert "".join(pieces) == text
    assert all(0 < len(piece) <= size for piece in pieces)


def test_the_reply_comes_from_the_model_that_was_asked() -> None:
    """Whatever stands there is made a name; without one it is the script's own."""
    assert Exchange(Reply(), 1, {"model": "big"}).model == "big"
    assert Exchange(Reply(), 1, {"model": ["odd"]}).model == "['odd']"
    assert Exchange(Reply(), 1, {}).model == "scripted"


def test_usage_is_that_of_the_script_or_an_estimate() -> None:
    """Four characters are a token: of the request, and of all that the reply consists of."""
    written = Usage(input_tokens=1, output_tokens=2, total_tokens=3)
    assert Exchange(Reply(text="x", usage=written), 1, {}).usage == written
    call = ScriptedCall(name="B", arguments="x" * 8)
    estimated = Exchange(Reply(text="x" * 4, thinking="x" * 4, tool_calls=(call,)), 1, {}).usage
    assert (estimated.input_tokens, estimated.output_tokens) == (1, 4)
    longer = Exchange(Reply(), 1, {"messages": ["x" * 400]}).usage
    assert longer.input_tokens > 100


def test_calls_are_numbered_unless_the_script_names_them() -> None:
    """Ids differ between replies and within one."""
    calls = (ScriptedCall(name="A"), ScriptedCall(name="B", id="mine"), ScriptedCall(name="C"))
    numbered = Exchange(Reply(tool_calls=calls), 7, {}).number_calls("call")
    assert [call_id for call_id, _ in numbered] == ["call_7_1", "mine", "call_7_3"]
    assert [call.name for _, call in numbered] == ["A", "B", "C"]
