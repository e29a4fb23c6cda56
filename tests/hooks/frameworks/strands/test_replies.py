"""Replies of a model: read, changed, refused."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("strands")

from strands.middleware import ModelStopReason

from amplifier_hooks.external.verdicts import ReplyVerdict
from amplifier_hooks.frameworks.strands.messages import (
    change_answer,
    change_reply,
    is_answer,
    read_reply,
    write_refusal,
)

USE: Any = {"toolUse": {"toolUseId": "c1", "name": "note", "input": {"text": "a"}}}
USAGE: Any = {"inputTokens": 7, "outputTokens": 5, "totalTokens": 12, "cacheReadInputTokens": 3}


def make_reply(*blocks: Any, reason: Any = "tool_use") -> ModelStopReason:
    """A reply."""
    content = list(blocks) or [{"text": "I note it."}, USE]
    message: Any = {"role": "assistant", "content": content}
    return ModelStopReason(reason, message, USAGE, {"latencyMs": 1})


def test_hooks_see_text_calls_and_tokens() -> None:
    """In our words."""
    reply = read_reply(make_reply(), "m-1", 12)
    assert reply.text == "I note it."
    assert reply.calls == [{"id": "c1", "name": "note", "arguments": {"text": "a"}}]
    assert reply.usage == {
        "input_tokens": 7,
        "output_tokens": 5,
        "total_tokens": 12,
        "cache_read_tokens": 3,
    }
    assert (reply.model, reply.finish_reason, reply.duration_ms) == ("m-1", "tool_use", 12)


def test_a_reply_without_calls_is_an_answer() -> None:
    """Whatever the model says about why it stopped."""
    assert is_answer(make_reply({"text": "Done."}, reason="max_tokens"))
    assert not is_answer(make_reply())


def test_the_text_alone_is_changed() -> None:
    """The call stays the same object, and so does what the reply has cost."""
    before = make_reply()
    after = change_reply(before, ReplyVerdict(True, text="Noted."))
    assert after.message["content"] == [{"text": "Noted."}, USE]
    assert after.message["content"][1] is USE
    assert (after.stop_reason, after.usage) == ("tool_use", USAGE)
    assert before.message["content"][0] == {"text": "I note it."}


def test_a_reply_without_its_calls_ends_the_turn() -> None:
    """The framework looks at the reason."""
    after = change_reply(make_reply(), ReplyVerdict(True, calls=[]))
    assert after.message["content"] == [{"text": "I note it."}]
    assert after.stop_reason == "end_turn"


def test_a_reply_that_gets_a_call_goes_on() -> None:
    """The framework runs it."""
    call = {"id": "c2", "name": "wipe", "arguments": {}}
    after = change_reply(
        make_reply({"text": "Done."}, reason="end_turn"), ReplyVerdict(True, calls=[call])
    )
    assert after.stop_reason == "tool_use"


def test_a_refusal_is_a_reply_without_calls() -> None:
    """It ends the turn; that of a reply costs what the reply has cost."""
    assert write_refusal("no").message["content"] == [{"text": "no"}]
    assert write_refusal("no").usage["totalTokens"] == 0
    refused = write_refusal("no", make_reply())
    assert refused.message["content"] == [{"text": "no"}]
    assert (refused.stop_reason, refused.usage) == ("end_turn", USAGE)


def test_another_answer_is_a_text() -> None:
    """What hooks left of it."""
    before = make_reply({"text": "Done."}, reason="end_turn")
    assert change_answer(before, "Nearly.").message["content"] == [{"text": "Nearly."}]
