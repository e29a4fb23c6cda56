"""The figures of a hook."""

from __future__ import annotations

from amplifier_foundation.history import RecordedHook
from amplifier_foundation.reports.figures.hook import HookFigures
from tests.foundation.reports.stories import answer, ask, decide


def test_calls_answers_and_failures_are_counted() -> None:
    """What stood behind a denial and what shadow mode withheld are no answers."""
    hook = HookFigures()
    for one in (
        answer("h"),
        answer("h", "deny"),
        answer("h", "deny", unheeded=True),
        answer("h", shadowed="deny"),
        answer("h", error="boom"),
        answer("h", error="late", timed_out=True),
    ):
        hook.take(one)
    counts = hook.counts
    assert (counts.calls, counts.failures, counts.timeouts, counts.unheeded) == (6, 2, 1, 1)
    assert dict(counts.answers) == {"deny": 1}
    assert dict(counts.shadowed) == {"deny": 1}


def test_a_question_that_is_put_again_counts_once() -> None:
    """After the wait, hooks answer once more; that is no second change."""
    hook = HookFigures()
    hook.take(answer("h", "modify"))
    hook.take(answer("h", "modify"), again=True)
    hook.take(answer("h", "deny"), again=True)
    assert dict(hook.counts.answers) == {"modify": 1, "deny": 1}


def test_questions_and_what_became_of_them_are_counted() -> None:
    """Asked, allowed, refused, expired."""
    hook = HookFigures()
    for step in (ask(1), decide(2, True), ask(3), decide(4, False), ask(5)):
        hook.ask(step)
    hook.ask(decide(6, False, stage="expired"))
    hook.ask(decide(7, True, stage="remembered"))
    counts = hook.counts
    assert (counts.asked, counts.allowed, counts.refused, counts.expired) == (3, 1, 1, 1)
    assert counts.remembered == 1


def test_registrations_of_one_name_add_up() -> None:
    """What it listens to, and whether one of them is a guard."""
    hook, other = HookFigures(), HookFigures()
    hook.register(RecordedHook(1, "h", "tool:pre", 0))
    other.register(RecordedHook(2, "h", "tool:post", 0, on_error="deny", module="m", shadow=True))
    other.take(answer("h"))
    hook.add(other)
    assert (hook.events, hook.guard, hook.shadow, hook.module, hook.counts.calls) == (
        {"tool:pre", "tool:post"},
        True,
        True,
        "m",
        1,
    )
