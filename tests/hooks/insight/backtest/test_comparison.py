"""How two verdicts differ, in corners that sessions seldom reach."""

from __future__ import annotations

from amplifier_hooks.insight.backtest.comparison import compare
from amplifier_hooks.insight.backtest.gap import Look
from amplifier_hooks.insight.backtest.verdict import Failure, Verdict


def test_containers_are_compared_as_a_trail_has_them() -> None:
    """A tuple that a hook made is a list in the record."""
    was = Verdict("continue", {"a": [1, [2]]})
    assert compare(was, Verdict("continue", {"a": (1, (2,))}, changing=("x",))) is None


def test_texts_are_compared_as_a_scrubber_leaves_them() -> None:
    """The record does not have the secret that a hook put in."""
    was, would = Verdict("continue", {"a": "***"}), Verdict("continue", {"a": "key"})
    assert compare(was, would, lambda value: {"a": "***"}) is None
    assert compare(was, would) is not None


def test_what_is_cut_in_the_record_is_in_doubt() -> None:
    """A hook had left more than a record holds."""
    was = Verdict("continue", {"a": {"$cut": {"chars": 10}}})
    found = compare(was, Verdict("continue", {"a": "x" * 10}))
    assert found is not None
    assert found.kind == "cannot_tell"
    assert "not in the trail as a whole" in found.doubt


def test_a_failure_of_then_is_none_of_now() -> None:
    """Only what fails newly is an error."""
    failed = (Failure("hook", "RuntimeError"),)
    was, would = Verdict("continue", {}, failures=failed), Verdict("continue", {}, failures=failed)
    assert compare(was, would) is None
    assert compare(would, Verdict("continue", {})) is None


def test_whoever_looked_at_a_gap_leaves_nothing_to_compare() -> None:
    """Also where the actions are the same by chance."""
    looked = Verdict("continue", {}, looks=(Look("hook", "messages", "why"),))
    found = compare(Verdict("continue", {}), looked)
    assert found is not None
    assert (found.kind, found.hook) == ("cannot_tell", "hook")
