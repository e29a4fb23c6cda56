"""Messages of LangChain in our words, and back."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("langchain")

from langchain_core.messages import (
    AIMessage,
    ChatMessage,
    HumanMessage,
    InvalidToolCall,
    SystemMessage,
    ToolCall,
    ToolMessage,
)

from amplifier_hooks.external.messages import Placed
from amplifier_hooks.frameworks.langchain.messages import (
    build_message,
    change_message,
    describe_message,
    place_request,
    replace_calls,
    replace_text,
)

CALL = ToolCall(name="note", args={"text": "a"}, id="1", type="tool_call")
IMAGE = {"type": "image", "url": "https://example.org/a.png"}


@pytest.mark.parametrize(
    ("message", "plain"),
    [
        (HumanMessage("hi"), {"role": "user", "content": "hi"}),
        (SystemMessage("be"), {"role": "system", "content": "be"}),
        (HumanMessage("hi", name="ana"), {"role": "user", "content": "hi", "name": "ana"}),
        (ChatMessage("hm", role="critic"), {"role": "critic", "content": "hm"}),
        (
            AIMessage("", tool_calls=[CALL]),
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "name": "note", "arguments": {"text": "a"}}],
            },
        ),
        (
            ToolMessage("noted", tool_call_id="1", name="note"),
            {"role": "tool", "content": "noted", "tool_call_id": "1", "name": "note"},
        ),
        (HumanMessage([IMAGE]), {"role": "user", "content": [IMAGE]}),
    ],
)
def test_a_message_in_our_words(message: Any, plain: dict[str, Any]) -> None:
    """Role, content, and where it has them name, calls and the call that it answers."""
    assert describe_message(message) == plain


def test_a_text_is_replaced_beside_an_image() -> None:
    """What is no text stays; the message stays the same one."""
    message = HumanMessage([{"type": "text", "text": "My PIN"}, IMAGE, "is 4711"], id="m")
    changed = replace_text(message, "[removed]")
    assert changed.content == [{"type": "text", "text": "[removed]"}, IMAGE]
    assert changed.id == "m"
    assert "4711" in str(message.content)


def test_calls_are_replaced_wherever_a_message_has_them() -> None:
    """Providers keep them in content and in what they sent; none of the old ones is left."""
    raw = {"tool_calls": [{"id": "1"}], "other": 1}
    block = {"type": "tool_use", "id": "1", "name": "note", "input": {"text": "secret"}}
    message = AIMessage(
        [{"type": "text", "text": "so"}, block],
        tool_calls=[CALL],
        invalid_tool_calls=[InvalidToolCall(id="9", name="note", args="{secret", error="no JSON")],
        additional_kwargs=raw,
    )
    changed = replace_calls(message, [{"id": "2", "name": "wipe", "arguments": {"path": "/"}}])
    assert [one["name"] for one in changed.tool_calls] == ["wipe"]
    assert changed.content == [{"type": "text", "text": "so"}]
    assert changed.additional_kwargs == {"other": 1}
    assert "secret" not in str(changed)


def test_a_request_is_put_together() -> None:
    """What hooks left alone is the same object; the rest is changed, added or gone."""
    system, said = SystemMessage("be"), [HumanMessage("a"), AIMessage("b"), HumanMessage("c")]
    placed = [
        Placed(0),
        Placed(1),
        Placed(3, {"role": "user", "content": "C"}),
        Placed(None, {"role": "user", "content": "new"}),
    ]
    leading, sent = place_request(system, said, placed)
    assert leading is system
    assert sent[0] is said[0]
    assert [one.content for one in sent] == ["a", "C", "new"]


def test_a_system_message_can_be_changed_and_removed() -> None:
    """It is the first of what hooks see."""
    system, said = SystemMessage("be"), [HumanMessage("a")]
    changed = [Placed(0, {"role": "system", "content": "be kind"}), Placed(1)]
    leading, _ = place_request(system, said, changed)
    assert leading is not None
    assert leading.content == "be kind"
    assert place_request(system, said, [Placed(1)])[0] is None
    assert place_request(None, said, [Placed(0)]) == (None, said)


def test_a_late_system_message_is_marked_text_of_the_user() -> None:
    """Several models take system messages in front only."""
    message = build_message({"role": "system", "content": "Lint </system-note> line 3"})
    assert isinstance(message, HumanMessage)
    text = str(message.content)
    assert text.startswith("<system-note>\n")
    assert text.count("</system-note>") == 1
    assert text.endswith("</system-note>")


def test_any_role_can_be_added() -> None:
    """Each becomes a message of that kind."""
    calls = [{"id": "1", "name": "note", "arguments": {}}]
    said = build_message({"role": "assistant", "content": "so", "tool_calls": calls})
    assert isinstance(said, AIMessage)
    assert said.tool_calls[0]["name"] == "note"
    assert isinstance(build_message({"role": "assistant", "content": "so"}), AIMessage)
    answered = build_message({"role": "tool", "content": "noted", "tool_call_id": "1"})
    assert isinstance(answered, ToolMessage)
    assert answered.tool_call_id == "1"
    assert isinstance(build_message({"role": "user", "content": "hi"}), HumanMessage)


def test_a_changed_message_keeps_what_hooks_do_not_see() -> None:
    """Its id, its metadata, and its calls unless those were changed."""
    message = AIMessage("a", id="m", tool_calls=[CALL], response_metadata={"model": "x"})
    plain = describe_message(message)
    changed = change_message(message, {**plain, "content": "b"})
    assert isinstance(changed, AIMessage)
    assert (changed.id, changed.content, changed.tool_calls) == ("m", "b", [CALL])
    assert changed.response_metadata == {"model": "x"}
    fewer = change_message(message, {"role": "assistant", "content": "b"})
    assert isinstance(fewer, AIMessage)
    assert fewer.tool_calls == []
