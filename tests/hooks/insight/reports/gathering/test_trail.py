"""One pass over a trail."""

from __future__ import annotations

from amplifier_hooks.insight.reports.figures.period import Period
from amplifier_hooks.insight.reports.figures.session import MOST_INTERVENTIONS, MOST_TURNS
from amplifier_hooks.trails import RecordedHook
from tests.hooks.insight.reports.stories import (
    answer,
    at,
    call,
    event,
    gather,
    prompt,
    tell_whole_story,
)


def test_only_the_period_is_counted() -> None:
    """Hooks and names of sub-agents from before are known all the same."""
    session = gather(
        [RecordedHook(1, "guard", "tool:pre", 0, on_error="deny")],
        event(1, "session:fork", {"child_id": "child", "agent_name": "reviewer"}),
        prompt(2, "early"),
        prompt(5, "late", session="child"),
        prompt(9, "too late"),
        period=Period(since=at(4)[:19], until=at(8)[:19]),
    )
    assert [(turn.prompt.text, turn.agent) for turn in session.turns] == [("late", "reviewer")]
    assert (session.records, session.first, session.last) == (1, at(5), at(5))
    assert session.hooks["guard"].guard


def test_a_long_session_keeps_a_bounded_part_of_itself() -> None:
    """Everything is counted, and little is kept."""
    denial = answer("guard", "deny", reason="no")
    items = [prompt(n / 10, "go", turn=n) for n in range(1, 501)]
    items += [call(51 + n / 100, "Bash", {"command": "rm"}, denial) for n in range(500)]
    session = gather(*items)
    assert (session.turns.count, session.denied) == (500, 500)
    assert len([*session.turns]) == MOST_TURNS
    assert len([*session.interventions["denial"]]) == MOST_INTERVENTIONS


def test_the_whole_story_has_something_of_everything() -> None:
    """The story that other tests tell leaves nothing out."""
    session = tell_whole_story()
    assert all(kept.count for kept in session.interventions.values())
    assert session.questions.refused == 1
    assert session.errors.count == 1
    assert session.days["2026-11-15"].calls == session.call_count
