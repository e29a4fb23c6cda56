"""Messages and replies of CrewAI's models in plain values, and back."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("crewai")

from pydantic import BaseModel

from amplifier_hooks.external.messages import Placed
from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.crewai.calls import (
    describe_message,
    list_messages,
    list_tools,
    place_back,
    read_calls,
    read_reply,
    write_reply,
)

CALL = {"id": "c1", "type": "function", "function": {"name": "note", "arguments": '{"a": 1}'}}


class Form(BaseModel):
    """A filled form."""

    total: int


def test_a_text_is_a_message_of_the_user() -> None:
    """As CrewAI takes it."""
    assert list_messages("Hi") == [{"role": "user", "content": "Hi"}]


def test_a_message_is_described_with_its_calls() -> None:
    """Hooks see names and arguments, not JSON inside of JSON."""
    plain = describe_message({"role": "assistant", "content": None, "tool_calls": [CALL]})
    wanted = [{"id": "c1", "name": "note", "arguments": {"a": 1}}]
    assert plain == {"role": "assistant", "content": "", "tool_calls": wanted}
    result = {"role": "tool", "content": "ok", "tool_call_id": "c1", "name": "note"}
    assert describe_message({**result, "cache_breakpoint": True}) == result


def test_messages_that_hooks_left_alone_go_back_as_they_are() -> None:
    """With everything that only CrewAI knows; a changed one keeps the rest of it."""
    own: list[Any] = [{"role": "user", "content": "a", "cache_breakpoint": True}]
    changed = Placed(0, {"role": "user", "content": "b"})
    added = Placed(None, {"role": "system", "content": "c"})
    assert place_back(own, [Placed(0)])[0] is own[0]
    assert place_back(own, [changed, added]) == [
        {"role": "user", "content": "b", "cache_breakpoint": True},
        {"role": "system", "content": "c"},
    ]


def test_tools_have_names() -> None:
    """In either form."""
    assert list_tools([{"function": {"name": "note"}}, {"name": "wipe"}]) == ["note", "wipe"]
    assert list_tools(None) == []


def test_calls_of_every_provider_are_read() -> None:
    """OpenAI's and Anthropic's objects, and arguments that are no JSON."""
    function = SimpleNamespace(name="note", arguments="{}")
    block = SimpleNamespace(id="c3", name="wipe", input={"path": "/"})
    assert read_calls([SimpleNamespace(id="c2", function=function)]) == [
        {"id": "c2", "name": "note", "arguments": {}}
    ]
    assert read_calls([block]) == [{"id": "c3", "name": "wipe", "arguments": {"path": "/"}}]
    broken = {**CALL, "function": {"name": "note", "arguments": "{"}}
    assert read_calls([broken])[0]["arguments"] == {"arguments": "{"}
    assert read_calls("text") == []


def test_a_reply_is_a_text_a_form_or_calls() -> None:
    """Each as hooks see it."""
    assert read_reply("Done.", "m", {}, 3).text == "Done."
    assert read_reply(Form(total=3), "m", {}, 3).text == '{"total":3}'
    reply = read_reply([CALL], "m", {"total_tokens": 5}, 3)
    assert (reply.text, reply.usage, reply.duration_ms) == ("", {"total_tokens": 5}, 3)
    assert reply.calls[0]["name"] == "note"


def test_a_changed_reply_is_in_the_form_of_the_first() -> None:
    """So that CrewAI goes on with it."""
    assert write_reply("Done.", ReplyVerdict(True, text="Nearly.")) == "Nearly."
    assert write_reply(Form(total=3), ReplyVerdict(True, text='{"total": 4}')) == Form(total=4)
    calls = [{"id": "c1", "name": "note", "arguments": {"a": 2}}]
    written = write_reply([CALL], ReplyVerdict(True, calls=calls))
    assert read_calls(written) == calls
    assert write_reply([CALL], ReplyVerdict(True, text="No.", calls=[])) == "No."


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ([CALL], ReplyVerdict(True, text="and a text")),
        ("text", ReplyVerdict(True, text="both", calls=[{"id": "c", "name": "n"}])),
        ([CALL], ReplyVerdict(True, calls=[])),
        (Form(total=3), ReplyVerdict(True, text="no form")),
    ],
)
def test_a_reply_that_crewai_has_not_is_refused(answer: Any, verdict: ReplyVerdict) -> None:
    """A text beside calls, nothing at all, or a form that is none."""
    with pytest.raises(ValueError):
        write_reply(answer, verdict)
