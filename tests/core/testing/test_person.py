"""The person at the other end."""

from __future__ import annotations

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalTimeout
from amplifier_core.testing import RecordingDisplay, ScriptedApproval


async def test_a_person_answers_in_order_and_repeats_the_last_word() -> None:
    """Options, or functions of the question, on the plain protocol too."""
    person = ScriptedApproval("Deny", lambda question: ApprovalAnswer(question.options[0]))
    answers = [await person.request_approval("?", ["Allow", "Deny"], 1, "deny") for _ in "123"]
    assert answers == ["Deny", "Allow", "Allow"]
    assert person.prompts == ["?", "?", "?"]


async def test_a_person_can_fail_or_be_absent() -> None:
    """An exception is raised; without any answer, time runs out."""
    with pytest.raises(OSError, match="gone"):
        await ScriptedApproval(OSError("gone")).request_approval("?", [], 1, "deny")
    with pytest.raises(ApprovalTimeout):
        await ScriptedApproval().request_approval("?", [], 1, "deny")


async def test_a_person_may_take_their_time() -> None:
    """The function of the question may be async."""

    async def think(question: object) -> str:
        return "Allow"

    assert await ScriptedApproval(think).request_approval("?", ["Allow"], 1, "deny") == "Allow"


def test_a_screen_remembers_what_it_showed() -> None:
    """Message, level and source, in order."""
    screen = RecordingDisplay()
    screen.show_message("one", "info")
    screen.show_message("two", "error", "hook:x")
    assert screen.messages == [("one", "info", "hook"), ("two", "error", "hook:x")]
