"""A proposed rule, loaded as a session would have it, to be tried on calls."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.rules import ApprovalRule, load_rule
from amplifier_hooks.guards.rules.matching import Condition, ConditionError
from amplifier_hooks.insight.rule_suggestions.evidence import Question, ask
from amplifier_hooks.insight.rule_suggestions.risks import OWNER
from amplifier_hooks.modules.options import parse_config


class Trial:
    """Tells which calls a rule would allow."""

    def __init__(self, written: Mapping[str, Any], base: Path) -> None:
        self._rule = parse_config(ApprovalRule, dict(written), OWNER)
        self._base = base
        self._loaded = load_rule(self._rule, base, OWNER)
        when = self._rule.when
        self._condition = None if when is None else Condition(when, OWNER)

    @property
    def hook(self) -> str:
        """Whose questions it answers."""
        return str(self._rule.hook)

    def allows(self, tool: str, given: dict[str, Any]) -> bool:
        """Whether the rule would allow a call, if its hook were to ask."""
        if tool != self._rule.tool or not self._may_hold(tool, given):
            return False
        return self._loaded.applies_to(ask(tool, given, self.hook, TOOL_PRE), self._base)

    def allows_question(self, question: Question) -> bool:
        """Whether it would allow what somebody was asked about, whoever asked."""
        return question.event == TOOL_PRE and self.allows(question.tool, question.input)

    def _may_hold(self, tool: str, given: dict[str, Any]) -> bool:
        """The cheapest of its conditions first: there may be many calls to try it on."""
        if self._condition is None:
            return True
        try:
            return self._condition.holds(TOOL_PRE, {"tool_name": tool, "tool_input": given})
        except ConditionError:
            return False
