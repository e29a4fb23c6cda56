"""What became of an operation once every answer was carried out."""

from __future__ import annotations

from amplifier_core.models.outcome import Outcome, describe_denial


def test_a_denial_names_who_denied_and_why() -> None:
    """The sentence that the agent reads; a hook may give no reason."""
    assert Outcome(False, hook="guard", reason="no").denial == "Operation denied by guard: no"
    assert describe_denial("guard", "") == "Operation denied by guard: no reason given"
    assert Outcome(False).denial == "Operation denied by a hook: no reason given"


def test_an_outcome_is_told_as_a_result() -> None:
    """`continue` with the data, or `deny` with the reason; comments stand in the reason."""
    allowed = Outcome(True, {"x": 1}, comments=("fine", "go")).to_result()
    assert (allowed.action, allowed.data, allowed.reason) == ("continue", {"x": 1}, "fine; go")
    assert Outcome(True, {"x": 1}).to_result().reason is None
    denied = Outcome(False, None, "guard", "no").to_result()
    assert (denied.action, denied.reason) == ("deny", "no")
