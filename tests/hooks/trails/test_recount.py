"""Recounts: what trails tell of hooks is what the session counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from hypothesis import example, given, settings

from amplifier_core.hook_counts import HookCounts
from amplifier_core.records import Other, SessionEnded, SessionStarted
from amplifier_hooks.approvals.models import SessionRecord
from amplifier_hooks.approvals.stores.statistics import SUMS
from amplifier_hooks.approvals.stores.statistics import list_figures as list_hook_figures
from amplifier_hooks.insight.counting import Recount, recount
from amplifier_hooks.trails import RecordedHook
from amplifier_hooks.trails.recount import MOST_HOOKS, OTHERS, SHADOW
from tests.hooks.trails.random_sessions import (
    EVERY_FIGURE,
    RandomSession,
    Script,
    Step,
    Wish,
    draw_scripts,
)


def list_figures(found: dict[str, HookCounts]) -> dict[str, dict[str, Any]]:
    """Everything, and how often it was measured how long it took."""
    return {
        name: counts.to_dict() | {"timed": sum(counts.times.values())}
        for name, counts in sorted(found.items())
    }


def play(script: Script, level: str = "normal") -> RandomSession:
    session = RandomSession(script, level)
    asyncio.run(session.play())
    return session


def check_counts(script: Script) -> None:
    """Counted by the session, and recounted from its trail."""
    session = play(script)
    found = recount(session.read())
    assert list_figures(session.count()) == list_figures(found)
    check_store(session.list_records(), found)


def check_store(records: list[Any], found: dict[str, HookCounts]) -> None:
    """The store adds the same up, for the page and for /metrics."""
    sums: dict[str, Counter[str]] = {}
    for number, record in enumerate(records, 1):
        names: dict[str, Any] = {key: record.get(key) or "" for key in ("type", "event", "hook")}
        published = SessionRecord(number=number, time=0.0, body=record.get("body") or {}, **names)
        for figures in list_hook_figures(published):
            own = sums.setdefault(figures.hook, Counter())
            for name in SUMS:
                own[name] += getattr(figures, name)
            action = "continue" if figures.action.startswith(SHADOW) else figures.action
            own[f"answer {action}"] += figures.count
    for hook, counts in found.items():
        told = counts.to_dict()
        own = sums.get(hook, Counter())
        wanted = {f"answer {action}": number for action, number in told["answers"].items()}
        wanted |= {name: told[name] for name in ("failures", "timeouts", "injected_tokens")}
        wanted |= {name: told["approvals"][name] for name in SUMS if name in told["approvals"]}
        wanted["count"] = told["calls"]
        assert {name: own[name] for name in wanted} == wanted, hook


@settings(max_examples=25)
@example(EVERY_FIGURE)
@given(draw_scripts())
def test_a_recount_from_the_trail_equals_what_the_session_counted(script: Script) -> None:
    """With several events at once, hooks that come and go, failures, questions and sub-agents."""
    check_counts(script)


def test_the_example_has_every_figure() -> None:
    """Else a figure that a store leaves out would be found by chance only."""
    told = [one.to_dict() for one in play(EVERY_FIGURE).count().values()]
    for name in ("asked", "allowed", "refused", "expired", "overruled"):
        assert any(one["approvals"][name] for one in told), name
    for name in ("failures", "timeouts", "injected_tokens"):
        assert any(one[name] for one in told), name
    assert any(one["answers"].get("deny") for one in told)


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
    trail.write(Other(type="log_opened", members={"level": "decisions"}))
    trail.write(SessionStarted(resumed=False, parent=None, shadow=False))
    if ended:
        figures = {name: one.to_dict() for name, one in session.registry.count().items()}
        trail.write(SessionEnded(reason="complete", stats={"hooks": figures}))
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
    session.agents[0].trail.write(Other(type="log_opened", members={"level": "decisions"}))
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
