"""The messages of a request: as hooks see them, and back."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import ChatContext, Content, Message

from amplifier_hooks.external.messages import Placed, place_messages
from amplifier_hooks.frameworks.agent_framework.messages import (
    copy_message,
    count_request,
    describe_message,
    read_request,
    write_message,
)


def make_context(**options: Any) -> ChatContext:
    """A request with the results of two calls in one message."""
    calls = [
        Content.from_function_call(f"c{number}", "note", arguments={"text": text}, id=f"o{number}")
        for number, text in enumerate("ab")
    ]
    results = [
        Content.from_function_result(one.call_id or "", id=one.id, result=f"noted {one.call_id}")
        for one in calls
    ]
    messages = [
        Message("user", ["Do it."], author_name="ana"),
        Message("assistant", calls),
        Message("tool", results),
    ]
    client: Any = None
    return ChatContext(client, messages, options)


def test_each_result_is_a_message_to_hooks() -> None:
    """With the call it belongs to."""
    plain = read_request(make_context(instructions="Be brief.")).plain
    assert [one["role"] for one in plain] == ["system", "user", "assistant", "tool", "tool"]
    assert plain[0]["content"] == "Be brief."
    assert plain[1]["name"] == "ana"
    assert [one["id"] for one in plain[2]["tool_calls"]] == ["c0", "c1"]
    assert plain[4] == {"role": "tool", "tool_call_id": "c1", "content": "noted c1"}


def test_results_of_one_message_stay_in_one_message() -> None:
    """One of them changed: some providers take them together only."""
    context = make_context()
    request = read_request(context)
    after = [*request.plain]
    after[2] = {**after[2], "content": "noted [hidden]"}
    before = list(context.messages)
    request.place(context, place_messages(request.plain, after))
    assert [one is other for one, other in zip(context.messages, before, strict=True)] == [
        True,
        True,
        False,
    ]
    assert [one.result for one in context.messages[2].contents] == ["noted [hidden]", "noted c1"]
    assert [one.id for one in context.messages[2].contents] == ["o0", "o1"]
    assert [one.result for one in before[2].contents] == ["noted c0", "noted c1"]


def test_a_message_that_a_hook_adds_is_in_its_place() -> None:
    """The others stay the framework's own."""
    context = make_context()
    request = read_request(context)
    before = list(context.messages)
    added = {"role": "developer", "content": "It is Monday."}
    everything = [Placed(0), Placed(None, added), *(Placed(index) for index in (1, 2, 3))]
    request.place(context, everything)
    assert [one.role for one in context.messages] == ["user", "system", "assistant", "tool"]
    assert context.messages[1].text == "It is Monday."
    assert context.messages[3] is before[2]


def test_a_request_that_nobody_looks_at_takes_injections_all_the_same() -> None:
    """Its messages are only counted, and stay where and what they are."""
    context = make_context(instructions="Be brief.")
    request, before = count_request(context), list(context.messages)
    added = {"role": "user", "content": "It is Monday."}
    after = [*request.plain, added]
    request.place(context, place_messages(request.plain, after))
    assert all(one is other for one, other in zip(context.messages, before, strict=False))
    assert context.messages[-1].text == "It is Monday."
    assert context.options == {"instructions": "Be brief."}


def test_instructions_are_changed_or_dropped() -> None:
    """In the options of the request, which belong to this request only."""
    options = {"instructions": "Be brief.", "temperature": 0}
    context = make_context(**options)
    request = read_request(context)
    rest = [Placed(index) for index in (1, 2, 3, 4)]
    request.place(context, [Placed(0, {"role": "system", "content": "Be kind."}), *rest])
    assert context.options == {"instructions": "Be kind.", "temperature": 0}
    context = make_context(**options)
    read_request(context).place(context, rest)
    assert context.options == {"temperature": 0}


def test_a_message_is_described_by_what_is_said() -> None:
    """Roles that a provider may not know are written as system."""
    assert describe_message(Message("user", ["a"])) == {"role": "user", "content": "a"}
    assert write_message({"role": "developer", "content": "b"}).role == "system"


def test_a_copy_keeps_who_said_it() -> None:
    """And drops what the provider sent as it came."""
    source = Message("user", ["4711"], author_name="ana", message_id="m", raw_representation="4711")
    copied = copy_message(source, [Content.from_text("[hidden]")])
    assert (copied.author_name, copied.message_id, copied.text) == ("ana", "m", "[hidden]")
    assert copied.raw_representation is None
