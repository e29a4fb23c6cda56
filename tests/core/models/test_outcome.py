"""What became of an operation once every answer was carried out."""

from __future__ import annotations

from amplifier_core.answers import Outcome, describe_denial, withdraw
from amplifier_core.models import HookResult


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


def test_a_withdrawn_result_has_no_effect_left() -> None:
    """A message that came with no action stays, and so does the wish to hide what was printed."""
    denied = withdraw(HookResult(action="deny", user_message="no", suppress_output=True))
    assert (denied.action, denied.user_message, denied.suppress_output) == ("continue", None, True)
    told = HookResult(user_message="hello")
    assert withdraw(told) is told
    assert withdraw(HookResult(data={"recommended_tool": "x"}, reason="r")) == HookResult(
        reason="r"
    )
