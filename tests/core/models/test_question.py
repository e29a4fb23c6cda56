"""The question that is put to a person, and the answer that comes back."""

from __future__ import annotations

import dataclasses

import pytest

from amplifier_core import approval
from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion


def test_a_question_is_a_value_that_nobody_changes() -> None:
    """What was shown is what was asked."""
    question = ApprovalQuestion("Go on?", ("Allow", "Deny"), 5.0, "deny", "guard")
    assert (question.tool_input, question.tool_name, question.session_id) == ({}, None, None)
    with pytest.raises(dataclasses.FrozenInstanceError):
        question.prompt = "Something else?"  # type: ignore[misc]


def test_an_answer_needs_an_option_only() -> None:
    """Both values are found where approval systems look for them."""
    answer = ApprovalAnswer("Allow")
    assert (answer.by, answer.comment, answer.edited_input) == (None, None, None)
    assert approval.ApprovalAnswer is ApprovalAnswer
    assert approval.ApprovalQuestion is ApprovalQuestion
