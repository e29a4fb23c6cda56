"""Questions that wait until a session is resumed."""

from __future__ import annotations

import json

import pytest

pytest.importorskip("claude_agent_sdk")

from amplifier_hooks.external.handover import Handed
from amplifier_hooks.frameworks import answer
from amplifier_hooks.frameworks.claude_agent_sdk.session import Questions


def hand(prompt: str, call_id: str = "toolu_1") -> Handed:
    """A question of a hook."""
    return Handed(prompt, ("Allow", "Deny"), "wipe", {"path": "/x"}, call_id, "d" * 64, "policy")


def test_a_question_waits_until_it_is_answered() -> None:
    """Once, however often the call is judged."""
    questions = Questions()
    assert questions.find_answer(hand("May it?")) is None
    assert questions.find_answer(hand("May it?")) is None
    (payload,) = questions.waiting
    given = answer(payload, "Allow", by="ana")
    questions.give(payload, given)
    assert questions.waiting == []
    assert questions.find_answer(hand("May it?")) == given


def test_an_answer_is_about_one_call_and_one_question() -> None:
    """Another call, or another hook's question, waits for its own."""
    questions = Questions()
    questions.find_answer(hand("May it?"))
    payload = questions.waiting[0]
    questions.give(payload, answer(payload, "Allow"))
    assert questions.find_answer(hand("Really?")) is None
    assert questions.find_answer(hand("May it?", "toolu_2")) is None
    assert len(questions.waiting) == 2


def test_another_process_can_go_on() -> None:
    """Payloads and answers are values that JSON can hold."""
    questions = Questions()
    questions.find_answer(hand("May it?"))
    payload = json.loads(json.dumps(questions.waiting[0]))
    later = Questions()
    later.give(payload, json.loads(json.dumps(answer(payload, "Deny"))))
    assert later.find_answer(hand("May it?"))["option"] == "Deny"
