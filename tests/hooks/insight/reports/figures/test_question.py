"""Questions and their answers."""

from __future__ import annotations

import pytest

from amplifier_hooks.insight.reports.figures.question import Questions
from tests.hooks.insight.reports.stories import ask, at, decide


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


def test_a_question_that_another_program_asks_is_known_by_what_it_shows() -> None:
    """Nobody waits for it here; what is learnt later takes the place of what was thought."""
    questions = Questions()
    questions.take(ask(1))
    one = questions.take(decide(1.02, False, stage="handed_over", to="claude", call_id="c1"))
    assert (one.outcome, one.to, one.waited) == ("not_known", "claude", None)
    assert (questions.asked, questions.handed_over, questions.not_known) == (1, 1, 1)
    assert (questions.open, questions.waited) == (0, 0.0)
    about = {"stage": "outcome", "call_id": "c1", "to": "claude"}
    questions.take(decide(9, False, state="not_run", settles="not_known", **about))
    assert (one.outcome, questions.not_run, questions.not_known) == ("not_run", 1, 0)
    shown = {"state": "allowed", "settles": "not_run", "evidence": "result"}
    questions.take(decide(10, False, **shown, **about))
    assert (one.outcome, one.evidence, questions.not_run, questions.allowed) == (
        "allowed",
        "result",
        0,
        1,
    )
    assert (questions.asked, questions.open, questions.waited) == (1, 0, 0.0)


def test_an_answer_that_comes_back_belongs_to_the_question() -> None:
    """It is put again for that, and was asked once; somebody did wait for it."""
    questions = Questions()
    questions.take(ask(1, call_id="c1"))
    questions.take(decide(2, False, stage="handed_over", to="LangGraph", call_id="c1"))
    questions.take(ask(20, again=True, call_id="c1"))
    questions.take(decide(21, True, settles="not_known", call_id="c1"))
    (one,) = questions.kept
    assert (one.outcome, one.by, one.to, one.waited) == ("allowed", "ann", "LangGraph", 20.0)
    assert (questions.asked, questions.handed_over, questions.not_known) == (1, 1, 0)
    assert questions.open == 0


@pytest.mark.parametrize("how", ["rule", "nobody", "invalid", "error"])
def test_waiting_is_counted_only_where_a_person_had_the_question(how: str) -> None:
    """A rule answers at once, and where nobody can be asked, nobody is waited for."""
    questions = Questions()
    questions.take(ask(1))
    questions.take(decide(5, False, how=how))
    (one,) = questions.kept
    assert (one.outcome, one.waited, questions.waited, list(questions.waits)) == (
        "refused",
        None,
        0.0,
        [],
    )


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
