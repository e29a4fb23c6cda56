"""Requests, replies and their parts."""

from __future__ import annotations

from amplifier_core.message_models import ChatRequest


def test_a_request_of_known_parts_is_a_request_like_any_other() -> None:
    """It equals the validated one, and can be dumped, copied and given fields of its own."""
    from amplifier_core.message_models import Message, ToolSpec, build_request

    messages, tools = [Message(role="user", content="x")], [ToolSpec(name="t")]
    made, validated = build_request(messages, tools), ChatRequest(messages=messages, tools=tools)
    assert made == validated
    assert made.model_dump() == validated.model_dump()
    assert made.model_copy(update={"model": "m"}).model == "m"
    assert ChatRequest.model_validate(made.model_dump()) == made
    assert "temperature=None" in repr(made)
