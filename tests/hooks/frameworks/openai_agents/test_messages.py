"""The SDK's input items as messages that hooks read, and back."""

from __future__ import annotations

import copy
from typing import Any

import pytest

pytest.importorskip("agents")

from amplifier_hooks.external.messages import Placed
from amplifier_hooks.frameworks.openai_agents.messages import (
    CannotWrite,
    change_item,
    list_items,
    make_item,
    read_arguments,
    read_item,
    read_items,
    write_arguments,
    write_items,
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
