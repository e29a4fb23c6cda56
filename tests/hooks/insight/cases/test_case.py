"""What a case is made of."""

from __future__ import annotations

from amplifier_core.models import HookResult
from amplifier_hooks.insight.cases.case import TEXTS, VALUES
from amplifier_hooks.insight.cases.schema import Answer


def test_a_case_can_name_every_field_of_an_answer() -> None:
    """Those that a hook can give, each either by a part of its text or exactly."""
    apart = {"action", "data", "context_injections"}
    assert {*TEXTS, *VALUES} == set(HookResult.model_fields) - apart
    named = set(Answer.model_fields)
    assert named == {*TEXTS, *VALUES, "action", "data", "hook", "error"}
