"""What a case is made of."""

from __future__ import annotations

from amplifier_core.models import HookResult
from amplifier_hooks.insight.cases.case import TEXTS
from amplifier_hooks.insight.cases.schema import Answer


def test_a_case_can_name_every_field_of_an_answer() -> None:
    """Those that a hook can give, but for the form of several injections."""
    fields = set(HookResult.model_fields) - {"context_injections"}
    assert set(Answer.model_fields) == {*fields, "hook", "error"}


def test_the_texts_of_an_answer_are_compared_in_part() -> None:
    """What is declared as a part of a text, and the failure of a hook beside it."""
    typed = Answer.__annotations__
    assert {*TEXTS, "error"} == {name for name, kind in typed.items() if kind == "ExpectedText"}
