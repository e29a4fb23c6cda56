"""The top of a chapter."""

from __future__ import annotations

import pytest

from amplifier_audit import Report
from amplifier_hooks.insight.reports.model import Proof, SessionFigures
from amplifier_hooks.insight.reports.telling.summary import tell_summary
from tests.hooks.insight.reports.reading import read_words
from tests.hooks.insight.reports.stories import (
    answer,
    ask,
    call,
    decide,
    end,
    gather,
    prompt,
    respond,
    run,
)


def summarize(session: SessionFigures) -> str:
    return read_words(tell_summary(session))


def test_the_summary_says_who_when_where_and_how_it_ended() -> None:
    """In plain sentences."""
    session = gather(
        prompt(1, "go"),
        respond(2, "claude-sonnet-4", input_tokens=1_000_000),
        run(3, "Bash", {"command": "make"}),
        call(4, "Write", {"file_path": "x"}, answer("guard", "deny", reason="no"), id="c2"),
        end(11),
        folder="/home/ann",
        bundle="shop",
        bundle_file="amplifier.yaml",
    )
    words = summarize(session)
    assert "ran on 15 November 2026 from 09:00:01 to 09:00:11 UTC (10 s) in /home/ann" in words
    assert "with the bundle shop from amplifier.yaml. It ended as planned." in words
    assert "In 1 turn, the agent called tools twice: Bash 1, Write 1." in words
    assert "Of these calls, 1 succeeded and 1 was denied by a hook." in words
    assert "Models used: claude-sonnet-4; 1,000,000 tokens, about $3.00." in words


def test_what_was_denied_asked_and_changed_is_named() -> None:
    """The three things that matter, with their reasons."""
    session = gather(
        call(1, "Bash", {"command": "rm -r /"}, answer("guard", "deny", reason="not here")),
        call(2, "Bash", {"command": "ls"}, answer("tidy", "modify"), id="c2"),
        ask(3),
        decide(4, True),
    )
    words = summarize(session)
    assert "Denied by guard: Bash rm -r /: not here" in words
    assert "Asked by guard: Allow Write? → allowed by ann" in words
    assert "Changed by tidy: Bash ls" in words
    assert "1\nasked\n1 allowed" in words


@pytest.mark.parametrize(
    ("reason", "words"),
    [("error", "It ended with an error."), ("odd", "It ended: odd."), ("", "may still run")],
)
def test_the_end_is_told_in_words(reason: str, words: str) -> None:
    """Also one that is not known."""
    items = [end(2, reason)] if reason else []
    assert words in summarize(gather(prompt(1, "go"), *items))


def test_shadow_mode_stands_at_the_top() -> None:
    """Whoever reads of denials must know that they had no effect."""
    assert "shadow mode" in summarize(gather(prompt(1, "go"), shadow=True))


def test_a_trail_with_decisions_alone_says_so_at_the_top() -> None:
    """Its figures of calls are too small."""
    assert "decisions alone" in summarize(gather(prompt(1, "go"), level="decisions"))


def test_a_rule_that_decided_is_no_person() -> None:
    """Nobody takes it for a name."""
    words = summarize(gather(ask(1), decide(2, False, by="rule:deny")))
    assert "refused by the rule deny" in words


def test_a_trail_that_cannot_be_relied_on_is_said_before_everything_else() -> None:
    """Whatever follows may be made up."""
    doubtful, fine = gather(prompt(1, "go")), gather(prompt(1, "go"))
    fine.proof = Proof(Report("consistent", "log", 0, 1))
    assert summarize(doubtful).startswith("The trail could not be verified.")
    assert summarize(fine).startswith("The session")


def test_a_failing_hook_is_mentioned() -> None:
    """It guards nothing."""
    failing = call(1, "Bash", {}, answer("guard", error="boom"))
    assert "hooks failed once" in summarize(gather(failing))
