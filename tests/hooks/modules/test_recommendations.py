"""Decisions that hooks take part in: a change counts, then the surest recommendation."""

from __future__ import annotations

import math
from typing import Any

import pytest

from amplifier_core.answers import Outcome
from amplifier_core.dispatch import Answer
from amplifier_core.models import HookResult
from amplifier_core.registration import HookHandler
from amplifier_hooks.modules.recommendations import choose_name

TOOLS = ["calculator", "search", "weather"]


def decide(*answers: HookResult, selected: Any = "search") -> str:
    said = tuple(Answer(HookHandler(lambda event, data: None), one) for one in answers)
    outcome = Outcome(True, {"selected_tool": selected}, answers=said)
    return choose_name(outcome, "selected_tool", "tool", "search", TOOLS)


def recommend(**data: Any) -> HookResult:
    return HookResult(action="continue", data=data)


def test_without_a_word_of_hooks_the_choice_stands() -> None:
    """Hooks need not answer."""
    assert decide() == "search"
    assert decide(HookResult(action="inject_context", context_injection="hm")) == "search"


@pytest.mark.parametrize("key", ["recommended_tool", "tool", "selected_tool"])
def test_a_recommendation_is_followed(key: str) -> None:
    """The specification writes `recommended_tool` in one place and `tool` in another."""
    assert decide(recommend(**{key: "calculator"})) == "calculator"


def test_the_surest_recommendation_counts_and_of_equals_the_earlier() -> None:
    """Without a number a hook is sure."""
    low = recommend(tool="weather", confidence=0.3)
    high = recommend(tool="calculator", confidence=0.9)
    assert decide(low, high) == decide(high, low) == "calculator"
    assert decide(high, recommend(tool="weather")) == "weather"
    assert decide(recommend(tool="weather"), recommend(tool="calculator")) == "weather"


def test_a_change_counts_more_than_recommendations() -> None:
    """Whoever modifies the data decides."""
    assert decide(recommend(tool="weather"), selected="calculator") == "calculator"


@pytest.mark.parametrize("name", ["calculatr", None, 3, ["search"]])
def test_what_there_is_not_is_passed_over(name: Any, caplog: pytest.LogCaptureFixture) -> None:
    """A misspelt name does not stop the agent; the log has it."""
    assert decide(recommend(tool=name)) == "search"
    assert decide(selected=name) == "search"
    assert "which does not exist" in caplog.text


@pytest.mark.parametrize("confidence", [math.nan, math.inf, "high", None])
def test_a_confidence_that_is_no_number_is_none(confidence: Any) -> None:
    """It counts less than any that is one."""
    unclear = recommend(tool="weather", confidence=confidence)
    assert decide(unclear, recommend(tool="calculator", confidence=0.1)) == "calculator"
    assert decide(unclear) == "weather"
