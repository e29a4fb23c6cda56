"""Contents of a message: text, tool calls and their results, as hooks see them and back."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_framework")

from agent_framework import Content

from amplifier_hooks.frameworks.agent_framework.messages import (
    describe_calls,
    is_call,
    read_texts,
    write_calls,
    write_contents,
)

CALL = Content.from_function_call("c1", "note", arguments='{"text": "a"}', id="o1")
HOSTED = Content.from_function_call("c2", "search", arguments={}, hosted=True)
IMAGE = Content.from_uri("https://example.com/a.png", media_type="image/png")


def test_calls_are_described_with_their_arguments() -> None:
    """Also if the model sent them as text; what the provider runs is not among them."""
    found = describe_calls([IMAGE, CALL, HOSTED])
    assert found == [{"id": "c1", "name": "note", "arguments": {"text": "a"}}]
    assert not is_call(HOSTED)


def test_text_is_read_without_the_rest() -> None:
    """In the pieces in which it came."""
    pieces = [Content.from_text("All"), IMAGE, Content.from_text(" done.")]
    assert read_texts(pieces) == "All done."


def test_a_call_that_nobody_changed_stays_the_frameworks_own() -> None:
    """Another one keeps the identity of the call it stands for."""
    same, other = describe_calls([CALL]), [{"id": "c1", "name": "note", "arguments": {"text": "b"}}]
    assert write_calls(same, [CALL])[0] is CALL
    (changed,) = write_calls(other, [CALL])
    assert (changed.id, changed.call_id, changed.parse_arguments()) == ("o1", "c1", {"text": "b"})


def test_a_call_that_only_looks_the_same_is_another() -> None:
    """Python takes 1 for True, but a tool need not."""
    before = Content.from_function_call("c1", "wipe", arguments={"force": 1})
    (changed,) = write_calls([{"id": "c1", "name": "wipe", "arguments": {"force": True}}], [before])
    assert changed.parse_arguments() == {"force": True}
    assert changed is not before


def test_what_hooks_cannot_see_stays() -> None:
    """An image in a message whose text they changed."""
    plain = {"role": "user", "content": "PIN [hidden]"}
    written = write_contents(plain, [Content.from_text("PIN 4711"), IMAGE])
    assert [one.type for one in written] == ["text", "uri"]
    assert written[0].text == "PIN [hidden]"


def test_a_result_belongs_to_its_call() -> None:
    """With another text."""
    before = Content.from_function_result("c1", id="o1", result="PIN 4711")
    plain = {"role": "tool", "tool_call_id": "c1", "content": "PIN [hidden]"}
    (written,) = write_contents(plain, [before])
    assert (written.call_id, written.id, written.result) == ("c1", "o1", "PIN [hidden]")
