"""Questions a day: what was asked, and what would be."""

from __future__ import annotations

from typing import Any

from amplifier_hooks.insight.backtest.questions import MOST_OPEN, Questions
from amplifier_hooks.insight.backtest.verdict import Asking, Verdict
from amplifier_hooks.trails import RecordedApproval, RecordedEvent

ASKS = Verdict("ask_user", {}, asking=(Asking("guard", "really?"),))
GOES_ON = Verdict("continue", {})


def _make_event(call: str = "1") -> RecordedEvent:
    data = {"tool_name": "Bash", "tool_call_id": call}
    return RecordedEvent(
        sequence=1, time="2026-11-02T10:00:00Z", session="s", turn=1, event="tool:pre",
        data=data, left=data,
    )  # fmt: skip


def _make_step(stage: Any, call: str = "1", **more: Any) -> RecordedApproval:
    return RecordedApproval(
        sequence=2, time="2026-11-02T10:00:01Z", session="s", turn=1, event="tool:pre",
        stage=stage, hook="guard", id=1, digest=f"d{call}", tool="Bash", call_id=call,
        prompt="really?", **more,
    )  # fmt: skip


def test_a_question_of_then_that_is_asked_now_counts_once_on_both_sides() -> None:
    """Whether it was put at all, the trail says."""
    questions = Questions()
    questions.take_verdicts(_make_event(), ASKS, ASKS)
    questions.take_approval(_make_step("requested"))
    questions.take_approval(_make_step("decided", decision="Allow once", allowed=True))
    assert questions.days == {"2026-11-02": [1, 1]}


def test_a_question_that_is_not_asked_any_more_counts_for_then() -> None:
    """Somebody was disturbed."""
    questions = Questions()
    questions.take_verdicts(_make_event(), ASKS, GOES_ON)
    questions.take_approval(_make_step("requested"))
    assert questions.days == {"2026-11-02": [1, 0]}


def test_what_a_rule_answered_disturbed_nobody() -> None:
    """It is taken back on both sides."""
    questions = Questions()
    questions.take_verdicts(_make_event(), ASKS, ASKS)
    questions.take_approval(_make_step("requested"))
    questions.take_approval(_make_step("decided", how="rule", decision="Allow once"))
    assert questions.days == {"2026-11-02": [0, 0]}


def test_an_answer_for_always_answers_new_questions_like_it() -> None:
    """Of the same hook, about the same tool, in the same words."""
    questions = Questions()
    questions.take_approval(_make_step("requested"))
    questions.take_approval(_make_step("decided", decision="Allow always", allowed=True))
    questions.take_verdicts(_make_event("2"), GOES_ON, ASKS)
    other = Verdict("ask_user", {}, asking=(Asking("guard", "and this?"),))
    questions.take_verdicts(_make_event("3"), GOES_ON, other)
    assert questions.days == {"2026-11-02": [1, 1]}


def test_another_policy_is_counted_as_it_would_ask() -> None:
    """What was really asked is not the point then."""
    questions = Questions(recorded=False)
    questions.take_verdicts(_make_event(), ASKS, GOES_ON)
    questions.take_approval(_make_step("requested"))
    questions.take_approval(_make_step("decided", how="rule", decision="Allow once"))
    questions.take_verdicts(_make_event("2"), ASKS, ASKS)
    assert questions.days == {"2026-11-02": [2, 1]}


def test_open_questions_are_bounded() -> None:
    """A session that never ends does not fill the memory."""
    questions = Questions()
    for number in range(MOST_OPEN + 5):
        questions.take_verdicts(_make_event(str(number)), ASKS, ASKS)
    questions.take_approval(_make_step("requested", "0"))
    questions.take_approval(_make_step("requested", str(MOST_OPEN)))
    assert questions.days == {"2026-11-02": [2, 1]}
