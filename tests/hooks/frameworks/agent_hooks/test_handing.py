"""Questions in another host are noted, for one denial that its resolver may lift."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_hooks")

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, HandedOver
from amplifier_hooks.frameworks.agent_hooks.guest import HOST, HandingOver, note_questions


def make_question(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("Write?", options, 300, "allow", hook="gate")


async def test_a_question_is_noted_and_lets_the_next_gate_be_asked() -> None:
    """Nothing is decided by that, and nobody remembers anything."""
    with note_questions() as asked:
        question = make_question("Allow always", "Allow once", "Deny")
        answer = await HandingOver().decide(question)
    assert asked == [question]
    assert answer == HandedOver(HOST, goes_on=True)


async def test_without_a_yes_for_once_it_is_a_no() -> None:
    """Whatever the default of the question says."""
    with note_questions() as asked:
        assert _is_no(await HandingOver().decide(make_question("Allow always", "No")))
    assert asked == []


async def test_outside_of_an_interception_it_is_a_no() -> None:
    """There is no verdict that could carry the question."""
    assert _is_no(await HandingOver().decide(make_question("Allow", "Deny")))


def _is_no(answer: ApprovalAnswer | HandedOver) -> bool:
    return isinstance(answer, ApprovalAnswer) and answer.option == "Deny"
