"""Questions in another host are noted, for one denial that its resolver may lift."""

from __future__ import annotations

import pytest

pytest.importorskip("agent_hooks")

from amplifier_apps.adapters.agent_hooks.handing import BY, HandingOver, note_questions
from amplifier_core.approval import ApprovalQuestion


def make_question(*options: str) -> ApprovalQuestion:
    return ApprovalQuestion("Write?", options, 300, "allow", hook="gate")


async def test_a_question_is_noted_and_lets_the_next_gate_be_asked() -> None:
    """With a yes for once, which nobody remembers."""
    with note_questions() as asked:
        question = make_question("Allow always", "Allow once", "Deny")
        answer = await HandingOver().decide(question)
    assert asked == [question]
    assert (answer.option, answer.by) == ("Allow once", BY)


async def test_without_a_yes_for_once_it_is_a_no() -> None:
    """Whatever the default of the question says."""
    with note_questions() as asked:
        assert (await HandingOver().decide(make_question("Allow always", "No"))).option == "Deny"
    assert asked == []


async def test_outside_of_an_interception_it_is_a_no() -> None:
    """There is no verdict that could carry the question."""
    assert (await HandingOver().decide(make_question("Allow", "Deny"))).option == "Deny"
