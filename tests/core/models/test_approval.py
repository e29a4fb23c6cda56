"""The question to an approval provider, and its answer."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_core.models import ApprovalRequest, ApprovalResponse


def test_a_question_and_its_answer_keep_what_they_know() -> None:
    """Fields of newer versions are passed over."""
    asked = {"tool_name": "Bash", "action": "run", "risk_level": "high", "newer": 1}
    request = ApprovalRequest.model_validate(asked)
    assert (request.details, request.timeout) == ({}, None)
    response = ApprovalResponse.model_validate({"approved": False, "newer": 1})
    assert (response.reason, response.remember) == (None, False)


@pytest.mark.parametrize("level", ["low", "critical", "who knows", ""])
def test_the_risk_is_whatever_the_hook_calls_it(level: str) -> None:
    """Modules have scales of their own."""
    request = ApprovalRequest(tool_name="Bash", action="run", risk_level=level)
    assert request.risk_level == level


@pytest.mark.parametrize("given", [{}, {"risk_level": None}, {"risk_level": 3}])
def test_the_risk_has_to_be_named(given: dict[str, Any]) -> None:
    """Whoever asks has to say how bad it would be."""
    with pytest.raises(ValidationError, match="risk_level"):
        ApprovalRequest(tool_name="Bash", action="run", **given)


@pytest.mark.parametrize("timeout", [0, -1, 0.0, float("nan")])
def test_a_question_without_time_is_refused(timeout: float) -> None:
    """Nobody can answer it."""
    with pytest.raises(ValueError, match="greater than 0"):
        ApprovalRequest(tool_name="Bash", action="run", risk_level="low", timeout=timeout)
