"""The person of a replayed session."""

from __future__ import annotations

from typing import Any

import pytest

from amplifier_core.approval import ApprovalAnswer, ApprovalQuestion, ApprovalTimeout, HandedOver
from amplifier_core.errors import ApprovalError
from amplifier_hooks.insight.replay.playback import Playback
from amplifier_hooks.insight.replay.recorded_people import (
    RecordedApprovals,
    collect_questions,
    has_nobody,
)
from tests.hooks.insight.replay.items import event, question
from tests.hooks.insight.replay.test_recording import make

ASKED = ApprovalQuestion(
    "sure?", ("Allow", "Deny"), 60, "deny", "h", digest="d", session_id="s", tool_call_id="c"
)


def answer_with(*items: Any) -> RecordedApprovals:
    """Somebody who answers as these items tell."""
    return RecordedApprovals(Playback(make(*items)))


async def test_a_question_is_answered_as_it_was() -> None:
    """With who it was, what they said and what they made of the input."""
    person = answer_with(
        question("requested", 1),
        question("decided", 2, decision="Allow", by="ann", comment="once", edited=True),
        event("tool:pre", 3, tool_call_id="c", tool_input={"n": 2}, again=True),
    )
    assert await person.decide(ASKED) == ApprovalAnswer("Allow", "ann", "once", {"n": 2})


async def test_of_several_questions_the_same_one_is_answered() -> None:
    """By what would run, not by the order."""
    person = answer_with(
        question("requested", 1, digest="other", call_id="x"),
        question("decided", 2, digest="other", decision="Deny"),
        question("requested", 3),
        question("decided", 4, decision="Allow"),
    )
    said = [await person.decide(ASKED) for _ in range(2)]
    assert said == [ApprovalAnswer("Allow"), ApprovalAnswer("Deny")]


async def test_what_another_program_asked_is_handed_over_again() -> None:
    """What its person said is no answer of ours, then and now."""
    person = answer_with(
        question("requested", 1),
        question("handed_over", 2, to="claude", goes_on=True),
        question("outcome", 3, state="allowed"),
    )
    assert await person.decide(ASKED) == HandedOver("claude", goes_on=True)


@pytest.mark.parametrize(
    ("end", "error"),
    [
        (
            question("expired", 2, how="timeout", detail="nobody decided within 5 s"),
            ApprovalTimeout,
        ),
        (question("decided", 2, how="error", detail="nobody decided within 5 s"), ApprovalError),
    ],
)
async def test_a_question_that_nobody_decided_stays_undecided(end: Any, error: Any) -> None:
    """For the same reason."""
    with pytest.raises(error, match="nobody decided within 5 s"):
        await answer_with(question("requested", 1), end).decide(ASKED)


async def test_a_question_that_was_not_asked_has_no_answer() -> None:
    """That is a no."""
    with pytest.raises(ApprovalError, match="nobody was asked this"):
        await answer_with(event("session:start")).decide(ASKED)


def test_a_session_that_had_nobody_to_ask_has_nobody() -> None:
    """Its trail says so."""
    assert has_nobody(make(question("decided", 1, how="nobody")))
    assert not has_nobody(make(question("decided", 1, how="person")))


def test_each_question_has_its_own_end() -> None:
    """The first one that is open and about the same has it; an answer for always ends none."""
    found = collect_questions(
        [
            question("requested", 1),
            question("requested", 2),
            question("requested", 3, digest="other"),
            question("remembered", 4),
            question("cancelled", 5),
            question("decided", 6, digest="other"),
        ]
    )
    ends = [(one.request.sequence, one.end and one.end.sequence) for one in found]
    assert ends == [(1, 5), (2, None), (3, 6)]


def test_what_a_person_made_of_an_input_is_judged_next() -> None:
    """It is the input that was judged again, of the same call."""
    (asked,) = collect_questions(
        [
            question("requested", 1),
            question("decided", 2, edited=True),
            event("tool:pre", 3, tool_call_id="x", tool_input={"n": 1}, again=True),
            event("tool:pre", 4, tool_call_id="c", tool_input={"n": 2}, again=True),
        ]
    )
    assert asked.edited_input == {"n": 2}
