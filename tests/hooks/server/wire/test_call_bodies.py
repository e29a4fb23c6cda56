"""Calls that an agent runs with leave."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from amplifier_hooks.server.bodies import ClaimBody, RenewalBody, ResultBody


@pytest.mark.parametrize("lease", [0, -1, 86_401, float("inf"), float("nan"), "60"])
def test_a_lease_has_a_length(lease: Any):
    """Longer than a day nobody holds a call."""
    with pytest.raises(ValidationError):
        ClaimBody(session_id="s", tool_call_id="c", digest="d", lease=lease)
    with pytest.raises(ValidationError):
        RenewalBody(approvals=["a"], lease=lease)


@pytest.mark.parametrize("outcome", ["executed", "failed"])
def test_a_call_ends_in_one_of_two_ways(outcome: Any):
    """Unknown is what nobody said."""
    assert ResultBody(approvals=["a"], outcome=outcome).outcome == outcome


def test_everything_else_is_refused():
    """Another end, or of nothing."""
    wrong: Any
    for wrong in ({"outcome": "unknown"}, {"outcome": "approved"}, {"approvals": []}):
        with pytest.raises(ValidationError):
            ResultBody(**{"approvals": ["a"], "outcome": "failed", **wrong})
