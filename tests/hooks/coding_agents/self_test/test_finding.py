"""What a line of a check found."""

from __future__ import annotations

import pytest

from amplifier_hooks.coding_agents.self_test.finding import Finding, State


@pytest.mark.parametrize(
    ("state", "fails"),
    [("ok", False), ("cannot", False), ("yours", False), ("broken", True), ("untried", True)],
)
def test_only_what_should_work_and_does_not_is_a_failure(state: State, fails: bool) -> None:
    """What an agent cannot do, or a person's own hooks do, is none."""
    assert Finding("line", state).fails is fails
