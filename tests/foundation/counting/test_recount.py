"""Recounts: what trails tell of hooks is what the session counted."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given, settings

from amplifier_audit.reader.queries import count_answers
from amplifier_core.models.hook_counts import HookCounts
from amplifier_foundation.counting import Recount, recount
from amplifier_foundation.counting.recount import MOST_HOOKS, OTHERS
from amplifier_foundation.history import RecordedHook
from tests.foundation.counting.random_sessions import (
    RandomSession,
    Script,
    Step,
    Wish,
    draw_scripts,
)


def list_figures(found: dict[str, HookCounts]) -> dict[str, dict[str, Any]]:
    """Everything but how long it took; of that, how often it was measured."""
    told = {}
    for name, counts in sorted(found.items()):
        figures = counts.to_dict()
        timed = {"timed": sum(counts.times.values())}
        told[name] = {k: v for k, v in figures.items() if not k.endswith("_ms")} | timed
    return told


def play(script: Script, level: str = "normal") -> RandomSession:
    session = RandomSession(script, level)
    asyncio.run(session.play())
    return session


def check_counts(script: Script) -> None:
    """Counted by the session, recounted from its trail, and as `audit stats` has it."""
    session = play(script)
    found = recount(session.read())
    assert list_figures(session.count()) == list_figures(found)
    for name, figures in count_answers(session.list_records()).items():
        counts = found[name]
        told = (figures.calls, figures.denials, figures.errors)
        assert told == (counts.calls, counts.answers.get("deny", 0), counts.failures)


@settings(max_examples=25)
@given(draw_scripts())
def test_a_recount_from_the_trail_equals_what_the_session_counted(script: Script) -> None:
    """With several events at once, hooks that come and go, failures, questions and sub-agents."""
    check_counts(script)


@pytest.mark.slow
@settings(max_examples=3_000)
@given(draw_scripts())
def test_the_same_for_thousands_of_sessions(script: Script) -> None:
    """Figure by figure."""
    check_counts(script)


async def test_a_hook_that_leaves_while_a_person_decides_keeps_what_came_of_its_question() -> None:
    """Both in the session's own figures and in the trail."""
    asking = Wish("asks", "tool:pre", ("ask_user",))
    step = Step(events=((False, "tool:pre"),), removed=(0, 0, 0))
    session = RandomSession(Script("enforce", (asking,), (step,), ("Allow once",)))
    await session.play()
    for found in (session.count(), recount(session.read())):
        counts = found["asks"]
        assert (counts.calls, counts.asked, counts.allowed, counts.overruled) == (1, 1, 1, 1)


async def test_an_operation_that_is_judged_again_and_calls_nobody_counts_nothing() -> None:
    """The hook that had asked is gone; of the other one, the answer stands."""
    hooks = (Wish("asks", "tool:pre", ("ask_user",)), Wish("other", "tool:pre", ("continue",)))
    step = Step(events=((False, "tool:pre"),), removed=(0, 0))
    session = RandomSession(Script("enforce", hooks, (step,), ("Allow once",)))
    await session.play()
    for found in (session.count(), recount(session.read())):
        assert (found["asks"].calls, found["other"].calls) == (1, 1)


@pytest.mark.parametrize("ended", [True, False])
async def test_a_trail_of_decisions_has_its_calls_from_the_session(ended: bool) -> None:
    """Until that has ended, there were at least as many as decisions."""
    hook = Wish("a", "tool:pre", ("continue", "deny", "continue"))
    still = Wish("b", "tool:pre", ("continue",), priority=-1)
    step = Step(events=((False, "tool:pre"),) * 4)
    session = RandomSession(Script("enforce", (hook, still), (step,), ("Deny",)), "decisions")
    await session.play()
    trail = session.agents[0].trail
    trail.write("log_opened", {"level": "decisions"})
    trail.write("session_started", {})
    if ended:
        figures = {name: one.to_dict() for name, one in session.registry.count().items()}
        trail.write("session_ended", {"stats": {"hooks": figures}})
    found = Recount()
    for item in session.read():
        found.take(item)
    found.end_trail()
    assert found.hooks["a"].answers == {"deny": 1}
    calls = {name: one.calls for name, one in found.hooks.items()}
    assert calls == ({"a": 4, "b": 4} if ended else {"a": 1, "b": 0})
    assert found.unsure == (set() if ended else {"a", "b"})


async def test_what_shadow_mode_kept_back_is_counted_also_where_only_decisions_are_recorded() -> (
    None
):
    """By the action that would have been."""
    hook = Wish("a", "tool:pre", ("deny",), priority=-1, shadow=True)
    loud = Wish("b", "tool:pre", ("deny",))
    step = Step(events=((False, "tool:pre"),) * 2)
    session = RandomSession(Script("enforce", (loud, hook), (step,), ("Deny",)), "decisions")
    session.agents[0].trail.write("log_opened", {"level": "decisions"})
    await session.play()
    assert recount(session.read())["b"].answers == {"deny": 2}
    assert recount(session.read())["a"].shadowed == {"deny": 2}


def test_names_beyond_the_most_are_counted_together() -> None:
    """A trail that makes up names does not fill the memory."""
    found = Recount()
    for number in range(MOST_HOOKS + 50):
        found.take(RecordedHook(number, f"hook {number}", "tool:pre", 0))
        found.find(f"hook {number}").calls += 1
    assert len(found.hooks) == MOST_HOOKS + 1
    assert found.hooks[OTHERS].calls == 50
