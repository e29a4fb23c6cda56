"""Replies of a model: read, changed, refused."""

from __future__ import annotations

import pytest

pytest.importorskip("google.adk")

from google.adk.models.llm_response import LlmResponse
from google.genai import types

from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.google_adk.messages import change_reply, read_reply, write_refusal


def make_reply() -> LlmResponse:
    """A thought, a text and a call."""
    parts = [
        types.Part(text="hm", thought=True),
        types.Part(text="I note it."),
        types.Part(function_call=types.FunctionCall(name="note", args={"text": "a"})),
    ]
    usage = types.GenerateContentResponseUsageMetadata(
        prompt_token_count=7, candidates_token_count=5, total_token_count=12
    )
    return LlmResponse(
        content=types.Content(role="model", parts=parts),
        usage_metadata=usage,
        finish_reason=types.FinishReason.STOP,
        model_version="m-1",
    )


def test_hooks_see_text_calls_and_tokens() -> None:
    """Without the model's thoughts."""
    reply = read_reply(make_reply(), 12)
    assert reply.text == "I note it."
    assert reply.calls == [{"id": "call-0", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    assert (reply.model, reply.finish_reason, reply.duration_ms) == ("m-1", "stop", 12)


def test_a_reply_without_content_is_empty() -> None:
    """An error of the model's service has no text."""
    reply = read_reply(LlmResponse(error_code="500"), 0)
    assert (reply.text, reply.calls, reply.usage) == ("", [], {})


def test_the_text_alone_is_changed() -> None:
    """The call and the thought stay as they are."""
    before = make_reply()
    after = change_reply(before, ReplyVerdict(True, text="Noted."))
    assert [part.text for part in after.content.parts] == ["hm", "Noted.", None]
    assert after.content.parts[2] is before.content.parts[2]
    assert before.content.parts[1].text == "I note it."
    assert after.usage_metadata is before.usage_metadata


def test_calls_are_changed_and_removed() -> None:
    """An empty list leaves none."""
    calls = [{"id": "call-0", "name": "note", "arguments": {"text": "b"}}]
    changed = change_reply(make_reply(), ReplyVerdict(True, calls=calls))
    assert changed.content.parts[2].function_call.args == {"text": "b"}
    removed = change_reply(make_reply(), ReplyVerdict(True, calls=[]))
    assert not [part for part in removed.content.parts if part.function_call]


def test_a_refusal_is_a_reply_without_calls() -> None:
    """It ends the turn."""
    parts = write_refusal("against the rules").content.parts
    assert [part.text for part in parts] == ["against the rules"]
