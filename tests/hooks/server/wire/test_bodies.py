"""What people may send."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.approvals.models import Choice, StandingWish
from amplifier_hooks.server.bodies import (
    CodeBody,
    DecisionBody,
    LoginBody,
    RefusalsBody,
    StandingBody,
    TokenBody,
)

DECISION: dict[str, Any] = {"option": 1, "nonce": "n", "key": "k"}


def test_a_decision_is_a_choice():
    """With nothing in it that says who decides."""
    choice = DecisionBody(**DECISION, comment="c", standing=StandingBody(scope="exact"))
    assert isinstance(choice, Choice)
    assert (choice.option, choice.nonce, choice.key, choice.comment) == (1, "n", "k", "c")
    assert isinstance(choice.standing, StandingWish)
    assert DecisionBody(**DECISION).standing is None


@pytest.mark.parametrize(
    "option",
    [None, "", "deny", "DENY", "Allow ", "\u0410llow", True, 1.0, [1], -1, 1001, "x" * 10**6],
)
def test_an_odd_decision_value_is_refused(option: object):
    """Missing or odd decision value: a closed set, everything else is an error."""
    with pytest.raises(ValidationError):
        DecisionBody(**{**DECISION, "option": option})


@pytest.mark.parametrize("field", ["by", "decided_by", "via", "scopes", "status"])
def test_unknown_fields_are_refused(field: str):
    """Identity from the authenticated channel only."""
    with pytest.raises(ValidationError, match="Extra inputs"):
        DecisionBody(**{**DECISION, field: "ann"})


@pytest.mark.parametrize(
    "wish", [{"seconds": 0}, {"seconds": -1}, {"seconds": float("inf")}, {"uses": 0}, {"uses": 1.5}]
)
def test_a_rule_has_an_end(wish: dict[str, Any]):
    """No rule for ever, and none for nothing."""
    with pytest.raises(ValidationError):
        StandingBody(scope="exact", **wish)


def test_lists_have_limits():
    """Every limit holds at its edge."""
    one: Any = {"id": "a", "nonce": "n"}
    assert len(RefusalsBody(approvals=[one] * 500, key="k").approvals) == 500
    for count in (0, 501):
        with pytest.raises(ValidationError):
            RefusalsBody(approvals=[one] * count, key="k")
    assert TokenBody(name="n", scopes=["read"] * 32).seconds is None
    for scopes in ([], ["read"] * 33):
        with pytest.raises(ValidationError):
            TokenBody(name="n", scopes=scopes)


def test_a_code_is_for_reading_and_deciding_unless_it_says_otherwise():
    """And lasts ten minutes."""
    assert CodeBody(name="n").scopes == ["read", "decide"]
    assert CodeBody(name="n").seconds == 600
    with pytest.raises(ValidationError):
        CodeBody(name="n", seconds=86_401)
    with pytest.raises(ValidationError):
        LoginBody(code="")
