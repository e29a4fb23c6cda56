"""The verdict of several hooks together."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amplifier_hooks.coding_agents.dialects.answer import STRONGEST_FIRST, combine, report_failure
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Verdict

decisions = st.sampled_from([None, *STRONGEST_FIRST])


@given(st.lists(decisions))
def test_the_strongest_decision_wins_in_any_order(said: list[Any]) -> None:
    """A denial beats a deferral, that beats a question, that beats a permission."""
    expected = next((one for one in ("deny", "defer", "ask", "allow") if one in said), None)
    assert combine(Verdict(decision=one) for one in said).decision == expected


def test_no_verdict_says_nothing() -> None:
    """Nor do no hooks at all."""
    assert combine([]) == NOTHING


def test_only_those_who_decided_give_reasons_and_each_reason_once() -> None:
    """Why somebody else would have allowed it is beside the point."""
    verdict = combine(
        [
            Verdict(decision="allow", reason="harmless"),
            Verdict(decision="deny", reason="no network"),
            Verdict(decision="deny", reason="no network"),
            Verdict(decision="deny"),
            Verdict(reason="just saying"),
            Verdict(decision="deny", reason="not today"),
        ]
    )
    assert verdict.reason == "no network\nnot today"
    assert combine([Verdict(reason="undecided")]).reason is None


def test_of_several_rewrites_the_last_one_wins() -> None:
    """None is an output like any other; UNCHANGED is not."""
    first = Verdict(tool_input={"a": 1}, output="one", messages=[1], title="one")
    second = Verdict(tool_input={"a": 2}, output=None)
    verdict = combine([first, second, NOTHING])
    assert (verdict.tool_input, verdict.output) == ({"a": 2}, None)
    assert (verdict.messages, verdict.title) == ([1], "one")
    assert combine([NOTHING]).output is UNCHANGED


def test_everything_that_was_said_is_kept_in_order() -> None:
    """For the agent, for the person, and about failures."""
    verdict = combine(
        [
            Verdict(context=("a",), notes=("n",), warnings=("w", "x")),
            Verdict(context=("b", "c"), notes=("m",)),
        ]
    )
    assert (verdict.context, verdict.notes) == (("a", "b", "c"), ("n", "m"))
    assert verdict.warnings == ("w", "x")


def test_the_first_reason_to_stop_is_the_reason() -> None:
    """The run ends only once."""
    assert combine([NOTHING, Verdict(stop="first"), Verdict(stop="second")]).stop == "first"


def test_a_result_is_withheld_only_by_one_that_denies_it() -> None:
    """Another hook's habits do not count."""
    assert combine([Verdict(decision="deny", withhold=True), NOTHING]).withhold
    assert not combine([Verdict(decision="allow", withhold=True)]).withhold


def test_output_is_suppressed_only_if_all_want_that() -> None:
    """One hook may not hide what another printed."""
    assert combine([Verdict(quiet=True), Verdict(quiet=True)]).quiet
    assert not combine([Verdict(quiet=True), NOTHING]).quiet


def test_a_failure_is_a_denial_or_a_warning() -> None:
    """Its sentence reaches somebody in both cases."""
    closed = report_failure("It broke", fail_closed=True)
    assert (closed.decision, closed.reason) == ("deny", "It broke; it blocks when it fails")
    assert report_failure("It broke", fail_closed=False) == Verdict(warnings=("It broke",))


def test_what_nobody_rewrote_is_recognisable_in_a_log() -> None:
    """It is an object of its own kind."""
    assert repr(UNCHANGED) == "UNCHANGED"
