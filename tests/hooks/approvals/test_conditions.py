"""What a rule may look for counts wherever rules are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.rules import ApprovalRule
from amplifier_hooks.approvals.rules import load_rule as load_approval_rule
from amplifier_hooks.guards.rules.engine import load_rule
from amplifier_hooks.guards.rules.matching import EventView
from amplifier_hooks.guards.rules.rule import CONDITIONS, Match, Rule
from amplifier_hooks.insight.rule_checks.coverage import covers_conditions
from tests.hooks.approvals.questions import ask

OF_ANOTHER_CALL: dict[str, Any] = {
    "tool": "Write",
    "path": "docs/**",
    "command": "npm test",
    "regex": {"tool_input.url": "https://.*"},
    "when": "tool_input.command == 'npm test'",
}
"""For each condition a value that `make test` does not have. A new condition needs one."""


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_rule_that_stops_does_not_stop_another_call(condition: str, tmp_path: Path) -> None:
    """Else the condition was not compiled."""
    rule = Rule(name="a", action="deny", reason="no", **{condition: OF_ANOTHER_CALL[condition]})
    data = {"tool_name": "Bash", "tool_input": {"command": "make test"}}
    loaded = load_rule(rule, tmp_path, "hooks-rules")
    assert not loaded.applies_to(EventView(TOOL_PRE, data, tmp_path))


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_rule_that_allows_does_not_allow_another_call(condition: str, tmp_path: Path) -> None:
    """Else it would grant whatever its other conditions cover."""
    given = {"tool": "Bash", condition: OF_ANOTHER_CALL[condition]}
    loaded = load_approval_rule(ApprovalRule(name="a", decision="allow", **given), tmp_path, "x")
    assert not loaded.applies_to(ask(command="make test"), tmp_path)


@pytest.mark.parametrize("condition", [one for one in CONDITIONS if one != "tool"])
def test_a_rule_with_a_condition_does_not_cover_one_without(condition: str) -> None:
    """Else the wider rule would be called shadowed."""
    assert not covers_conditions(Match(**{condition: OF_ANOTHER_CALL[condition]}), Match())
