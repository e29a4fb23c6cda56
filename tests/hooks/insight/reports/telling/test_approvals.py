"""Who approved what."""

from __future__ import annotations

from amplifier_hooks.insight.reports.telling.approvals import name_decider, tell_approvals
from amplifier_hooks.insight.reports.telling.document import Code
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import ask, decide, gather


def test_a_question_shows_what_would_run_and_who_decided() -> None:
    """With how, when, how long it took, and the comment."""
    session = gather(ask(1), decide(31, True, comment="go on", edited=True))
    words = read_words(tell_approvals(session))
    assert "Allow Write?" in words
    assert "What exactly would run: Write\nfile_path: app.conf" in words
    assert "Decided\n09:00:31, after 30 s" in words
    assert "By\nann" in words
    assert "How\na person decided" in words
    assert "Comment\ngo on" in words
    assert "changed the input" in words
    assert "the agent waited 30 s" in words


def test_expired_and_open_questions_are_told() -> None:
    """Nobody decided."""
    session = gather(ask(1), decide(9, False, stage="expired", how="timeout"), ask(10, digest="d2"))
    words = read_words(tell_approvals(session))
    assert "Expired: nobody decided in time" in words
    assert "No answer in the trail" in words


def test_a_way_of_deciding_that_is_not_known_is_shown() -> None:
    """As the trail has it."""
    assert "How\noracle" in read_words(
        tell_approvals(gather(ask(1), decide(2, True, how="oracle")))
    )


def test_a_rule_that_decided_is_named() -> None:
    """By its name, and as a rule."""
    assert name_decider("rule:deny") == ("the rule ", Code("deny"))
    assert name_decider("ann") == (Code("ann"),)


def test_without_questions_it_says_so() -> None:
    """Nobody was asked."""
    assert read_words(tell_approvals(gather())) == "Nobody was asked."
