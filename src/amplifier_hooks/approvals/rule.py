"""One rule of an approval file: which questions it is about, and what it decides.

What grants is matched strictly and what restricts widely: one command of a script, or one path of
a call, is enough to deny it, and not enough to allow it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.errors import ModuleLoadError
from amplifier_core.events import TOOL_PRE
from amplifier_hooks.approvals.grant import Grant
from amplifier_hooks.guards.policy.patterns import PatternError
from amplifier_hooks.guards.rules.condition import ConditionError
from amplifier_hooks.guards.rules.matcher import Matcher, Unclear
from amplifier_hooks.guards.rules.occasion import Occasion
from amplifier_hooks.guards.rules.rule import Match, as_list

Test = Callable[[Occasion], bool]

NAMED_ONLY = frozenset({"hooks-redaction", "tool-bash"})
"""Hooks that ask about secrets or a wider sandbox, which no condition names: `hook` has to."""

_CONDITIONS = ("tool", "path", "command", "regex", "when")


class ApprovalRule(Match):
    """A rule as it is written, validated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1)
    description: str | None = None
    event: str | list[str] = TOOL_PRE
    hook: str | list[str] | None = None
    unless: Match | None = None
    decision: Literal["allow", "deny", "ask"]
    reason: str | None = None

    @model_validator(mode="after")
    def _check_conditions(self) -> ApprovalRule:
        if self.decision == "allow" and all(getattr(self, key) is None for key in _CONDITIONS):
            known = ", ".join(_CONDITIONS)
            raise ValueError(f"a rule that allows needs a condition: one of {known}")
        return self


@dataclass(frozen=True, slots=True)
class LoadedRule:
    """A rule with its compiled tests."""

    rule: ApprovalRule
    matches: Test
    excepts: Test

    def applies_to(self, question: ApprovalQuestion, base: Path) -> bool:
        """Whether it decides; where that cannot be told, it does unless it allows."""
        rule = self.rule
        if not _fits(rule.event, question.event) or not _fits(rule.hook, question.hook):
            return False
        if not _fits(rule.tool, question.tool_name or ""):
            return False
        allows = rule.decision == "allow"
        if allows and rule.hook is None and question.hook in NAMED_ONLY:
            return False
        occasion = _describe(question, base)
        if not _try(self.matches, occasion, doubt=not allows):
            return False
        return not _try(self.excepts, occasion, doubt=allows)


def load_rule(rule: ApprovalRule, base: Path, owner: str) -> LoadedRule:
    """Compile a rule; what is wrong with it is a ModuleLoadError that names it."""
    allows = rule.decision == "allow"
    try:
        matches = _make_test(rule, base, owner, strict=allows)
        excepts = _make_exception(rule.unless, base, owner, strict=not allows)
    except (PatternError, ConditionError, ValueError) as wrong:
        raise ModuleLoadError(f"{owner}: {wrong}") from None
    return LoadedRule(rule, matches, excepts)


def _make_test(match: Match, base: Path, owner: str, *, strict: bool) -> Test:
    return Grant(match, base, owner).holds if strict else Matcher(match, base, owner).holds


def _make_exception(match: Match | None, base: Path, owner: str, *, strict: bool) -> Test:
    if match is None:
        return lambda occasion: False
    test = _make_test(match, base, owner, strict=strict)
    return lambda occasion: _fits(match.tool, occasion.tool) and test(occasion)


def _try(test: Test, occasion: Occasion, *, doubt: bool) -> bool:
    """The test's answer, or `doubt` where it has none."""
    try:
        return test(occasion)
    except (Unclear, ConditionError, ValueError):
        return doubt


def _fits(globs: str | list[str] | None, name: str) -> bool:
    listed: Iterable[str] = as_list(globs)
    return globs is None or any(glob == name or fnmatchcase(name, glob) for glob in listed)


def _describe(question: ApprovalQuestion, base: Path) -> Occasion:
    data: dict[str, Any] = {
        "tool_name": question.tool_name,
        "tool_input": question.tool_input,
        "hook": question.hook,
        "prompt": question.prompt,
        "reason": question.reason,
    }
    return Occasion(question.event, data, base)
