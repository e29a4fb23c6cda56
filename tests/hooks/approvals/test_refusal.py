"""Refusing everything."""

from __future__ import annotations

from amplifier_core.approval import ApprovalAnswer
from amplifier_hooks.approvals import RefusingApproval
from tests.hooks.approvals.questions import ask


async def test_every_question_is_answered_with_no() -> None:
    """By its rule, with a reason for the agent."""
    answer = await RefusingApproval().decide(ask(command="ls"))
    assert isinstance(answer, ApprovalAnswer)
    assert (answer.option, answer.by) == ("Deny", "rule:deny")
    assert "nobody is asked" in str(answer.comment)
