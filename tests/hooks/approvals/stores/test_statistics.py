"""Figures about hooks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_core.records import HANDED_OVER_TO
from amplifier_hooks.approvals.errors import BadRequest
from amplifier_hooks.approvals.models import SessionRecord
from amplifier_hooks.approvals.stores.statistics import HookFigures, add_up, list_figures
from amplifier_hooks.approvals.stores.store import Store


async def test_a_time_that_is_none_is_refused(store: Store) -> None:
    """Not a number is no time."""
    odd: Any
    for odd in (math.nan, math.inf, "yesterday", None):
        with pytest.raises(BadRequest):
            await store.statistics.read(odd)
        with pytest.raises(BadRequest):
            await store.statistics.overrulings(odd)


ANSWER = {"hook": "guard", "action": "deny", "ms": 2.5}


def test_the_answers_of_a_dispatch_are_counted_in_their_hour() -> None:
    """Each hook by itself."""
    record = SessionRecord(
        number=1, time=7205.0, type="dispatch", event="tool:pre", body={"hooks": [ANSWER, ANSWER]}
    )
    counted = list(list_figures(record))
    assert [(one.hour, one.hook, one.action, one.milliseconds) for one in counted] == [
        (7200.0, "guard", "deny", 5.0)
    ]
    assert (counted[0].count, counted[0].slowest) == (2, 2.5)


def test_a_decision_on_its_own_is_counted_and_other_records_are_not() -> None:
    """As trails of the lowest level have it."""
    assert (
        len(
            list(
                list_figures(SessionRecord(number=1, time=1.0, type="action_resolved", body=ANSWER))
            )
        )
        == 1
    )
    assert (
        list(list_figures(SessionRecord(number=1, time=1.0, type="hook_finished", body=ANSWER)))
        == []
    )


@given(
    st.recursive(
        st.none() | st.floats() | st.text(),
        lambda v: (
            st.lists(v)
            | st.dictionaries(
                st.sampled_from(["hook", "hooks", "ms", "action", "tokens", "shadowed"]), v
            )
        ),
        max_leaves=8,
    )
)
def test_no_body_breaks_the_count(body: Any) -> None:
    """Whatever an agent sends: figures are finite numbers."""
    for type in ("dispatch", "action_resolved", "approval_decided", "injection_accepted"):
        content = body if isinstance(body, dict) else {"hooks": body}
        for answer in list_figures(
            SessionRecord(number=1, time=1.0, type=type, hook="h", body=content)
        ):
            assert math.isfinite(answer.milliseconds)
            assert isinstance(answer.action, str)


@pytest.mark.parametrize("ms", [10**400, 1e308, -1, True, float("nan")])
def test_a_time_that_no_hook_takes_is_not_added(ms: float) -> None:
    """Two such figures of one agent would make the sums of all agents infinite, for ever."""
    record = SessionRecord(
        number=1,
        time=1.0,
        type="dispatch",
        event="tool:pre",
        body={"hooks": [{**ANSWER, "ms": ms}]},
    )
    (found,) = list_figures(record)
    assert (found.count, found.timed, found.milliseconds) == (1, 0, 0.0)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ({"action": "deny", "unheeded": True}, {"action": "continue"}),
        ({"action": "continue", "shadowed": "deny"}, {"action": "shadow:deny"}),
        ({"error": "OSError", "timed_out": False}, {"failures": 1, "timeouts": 0}),
        ({"error": "late", "timed_out": True}, {"failures": 1, "timeouts": 1}),
        ({"ms": 25}, {"timed": 1, "within_5": 0, "within_25": 1, "within_2500": 1}),
        ({"ms": -1}, {"timed": 0, "within_2500": 0}),
    ],
)
def test_an_answer_is_counted_as_the_session_counts_it(
    answer: dict[str, Any], told: dict[str, Any]
) -> None:
    """What had no effect is a continue, or in the shadow."""
    record = SessionRecord(
        number=1, time=1.0, type="dispatch", body={"hooks": [{"hook": "h", **answer}]}
    )
    (figures,) = list_figures(record)
    assert {name: getattr(figures, name) for name in told} == told


@pytest.mark.parametrize(
    ("type", "body", "told"),
    [
        ("approval_requested", {}, {"asked": 1, "action": "ask_user"}),
        ("approval_decided", {"allowed": True, "how": "person"}, {"allowed": 1, "overruled": 1}),
        ("approval_decided", {"allowed": True, "how": "rule"}, {"allowed": 1, "overruled": 0}),
        ("approval_decided", {}, {"refused": 1, "allowed": 0}),
        ("approval_expired", {}, {"expired": 1}),
        ("approval_handed_over", {}, {"handed_over": 1, "not_known": 1, "allowed": 0}),
        (
            "approval_outcome",
            {"state": "allowed", "settles": "not_known"},
            {"allowed": 1, "overruled": 1, "not_known": -1},
        ),
        (
            "approval_outcome",
            {"state": "not_run", "settles": "not_known"},
            {"not_run": 1, "not_known": -1, "refused": 0},
        ),
        (
            "approval_outcome",
            {"state": "allowed", "settles": "not_run"},
            {"allowed": 1, "not_run": -1, "not_known": 0},
        ),
        (
            "approval_decided",
            {"allowed": False, "how": "person", "settles": "not_known"},
            {"refused": 1, "not_known": -1},
        ),
        (
            "approval_decided",
            {"allowed": True, "how": "rule", "by": f"{HANDED_OVER_TO}claude"},
            {"handed_over": 1, "not_known": 1, "allowed": 0},
        ),
        ("denial_contradicted", {"tool": "Bash"}, {"contradicted": 1, "action": "deny"}),
        ("injection_accepted", {"tokens": 7}, {"injected_tokens": 7, "action": "inject_context"}),
    ],
)
def test_questions_and_injections_are_counted_for_their_hook(
    type: str, body: dict[str, Any], told: dict[str, Any]
) -> None:
    """With the action that they come from; they are no calls."""
    (figures,) = list_figures(
        SessionRecord(number=1, time=1.0, type=type, event="tool:pre", hook="h", body=body)
    )
    assert {name: getattr(figures, name) for name in told} == told
    assert figures.count == 0


@pytest.mark.parametrize(
    ("type", "body"),
    [
        ("approval_requested", {"again": True}),
        ("approval_handed_over", {"again": True}),
        ("approval_cancelled", {}),
        ("injection_accepted", {"tokens": 2**70}),
    ],
)
def test_what_says_nothing_new_is_not_counted(type: str, body: dict[str, Any]) -> None:
    """A question that was asked before, and a figure that is forged."""
    assert (
        list_figures(
            SessionRecord(number=1, time=1.0, type=type, event="tool:pre", hook="h", body=body)
        )
        == []
    )


def test_what_became_known_is_counted_in_the_hour_of_the_question() -> None:
    """So that no hour has fewer than none; a time that is none is not used."""
    body = {"state": "allowed", "settles": "not_known"}
    for at, hour in (("1970-01-01T02:30:00+00:00", 7200.0), ("soon", 36000.0), (None, 36000.0)):
        told = {**body, "handed_over_at": at}
        record = SessionRecord(
            number=1, time=36001.0, type="approval_outcome", event="tool:pre", hook="h", body=told
        )
        (figures,) = list_figures(record)
        assert figures.hour == hour


def test_figures_of_one_key_become_one() -> None:
    """Summed, and the slowest of all."""
    figures = [HookFigures(0, "h", "e", "deny", 1, ms, ms) for ms in (3.0, 5.0, 4.0)]
    (found,) = add_up([*figures])
    assert (found.count, found.milliseconds, found.slowest) == (3, 12.0, 5.0)
    assert len(add_up([*figures, HookFigures(0, "h", "e", "continue", 1)])) == 2
