"""Questions and their answers."""

from __future__ import annotations

import pytest

from amplifier_foundation.reports.figures.question import Questions
from tests.foundation.reports.stories import ask, at, decide


def test_a_question_and_its_answer_are_one() -> None:
    """Who, what, how, when, and how long it took."""
    questions = Questions()
    questions.take(ask(1))
    questions.take(decide(11, True, comment="go on", edited=True))
    (one,) = questions.kept
    assert (one.outcome, one.by, one.comment, one.edited) == ("allowed", "ann", "go on", True)
    assert (one.asked, one.decided, one.waited) == (at(1), at(11), 10.0)
    assert one.input.text == "file_path: app.conf"
    assert (questions.asked, questions.allowed, questions.open, questions.waited) == (1, 1, 0, 10.0)


@pytest.mark.parametrize(
    ("more", "outcome"),
    [
        ({}, "refused"),
        ({"stage": "expired"}, "expired"),
        ({"how": "timeout"}, "expired"),
        ({"stage": "cancelled"}, "cancelled"),
    ],
)
def test_a_question_can_end_without_a_yes(more: dict[str, str], outcome: str) -> None:
    """Refused, expired and withdrawn are told apart, and counted."""
    questions = Questions()
    questions.take(ask(1))
    assert questions.take(decide(2, False, **more)).outcome == outcome
    assert getattr(questions, outcome) == 1
    assert questions.open == 0


def test_an_answer_for_always_asks_nobody() -> None:
    """What was decided before is shown, and is no question."""
    questions = Questions()
    questions.take(decide(2, True, stage="remembered"))
    assert (questions.asked, questions.remembered, questions.waited) == (0, 1, 0.0)


def test_two_hooks_that_ask_about_one_call_are_two_questions() -> None:
    """Each answer goes to the hook that asked."""
    questions = Questions()
    for hook in ("a", "b"):
        questions.take(ask(1, hook=hook))
    questions.take(decide(2, True, hook="b"))
    assert [(one.hook, one.outcome) for one in questions.kept] == [("a", "open"), ("b", "allowed")]
    assert questions.open == 1


def test_an_answer_without_its_question_is_told_all_the_same() -> None:
    """The question may lie before the period of the report."""
    questions = Questions()
    questions.take(decide(2, False))
    assert (questions.asked, questions.refused) == (1, 1)
