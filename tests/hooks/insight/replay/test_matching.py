"""Finding for each thing that happens now what happened then."""

from __future__ import annotations

from amplifier_hooks.insight.replay.matching import Matcher, is_quiet
from tests.hooks.insight.replay.items import call, event

ITEMS = [
    event("provider:request", 1),
    event("tool:pre", 2, tool_call_id="a"),
    event("tool:pre", 3, tool_call_id="b"),
    call("started", 4, "b"),
    event("provider:request", 5),
    event("tool:pre", 6, tool_call_id="a"),
]


def meet(matcher: Matcher, now: object) -> int | None:
    """The record of what is met."""
    found = matcher.meet(now)
    return None if found is None else int(found.sequence)


def test_calls_that_ran_side_by_side_are_met_in_any_order() -> None:
    """Between two requests to the model."""
    matcher = Matcher(ITEMS)
    assert meet(matcher, event("provider:request")) == 1
    assert meet(matcher, event("tool:pre", tool_call_id="b")) == 3
    assert meet(matcher, call("started", 0, "b")) == 4
    assert meet(matcher, event("tool:pre", tool_call_id="a")) == 2
    assert meet(matcher, event("provider:request")) == 5


def test_nothing_is_met_across_a_quiet_moment() -> None:
    """What comes after the next request has not happened yet."""
    matcher = Matcher(ITEMS)
    assert meet(matcher, event("tool:pre", tool_call_id="a")) is None
    assert meet(matcher, event("provider:request")) == 1
    assert meet(matcher, event("provider:request")) is None
    assert matcher.next.sequence == 2


def test_of_several_the_one_that_is_the_same_is_met() -> None:
    """The first one if none is."""
    matcher = Matcher([event("x:y", 1, n=1), event("x:y", 2, n=2)])
    assert meet(matcher, event("x:y", n=2)) == 2
    assert meet(matcher, event("x:y", n=9)) == 1
    assert matcher.next is None


def test_what_did_not_happen_again_can_be_passed_over() -> None:
    """Up to the same quiet moment, if there is one."""
    matcher = Matcher(ITEMS[1:])
    assert [one.sequence for one in matcher.skip_to(event("provider:request"))] == [2, 3, 4]
    assert matcher.next.sequence == 5
    assert matcher.skip_to(event("session:end")) == []
    assert is_quiet(event("session:end"))
