"""A rule with the place where it is written, and the group that it is judged in."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from amplifier_hooks.agent.bundles import Place
from amplifier_hooks.approvals.rules import ApprovalRule
from amplifier_hooks.approvals.rules import LoadedRule as LoadedApprovalRule
from amplifier_hooks.guards.policy.tool_calls import PATH_KEYS
from amplifier_hooks.guards.rules.engine import LoadedRule
from amplifier_hooks.guards.rules.rule import Rule
from amplifier_hooks.text.short_ids import shorten_id


@dataclass(frozen=True, slots=True)
class HookRule:
    """A rule of hooks-rules."""

    rule: Rule
    loaded: LoadedRule
    place: Place
    dry_run: bool = False
    """Whether it only says what it would do."""

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def acts(self) -> bool:
        """Whether it is switched on, and its answer counts."""
        return self.rule.enabled and not self.dry_run


@dataclass(frozen=True, slots=True)
class AnsweringRule:
    """A rule of an approval file."""

    rule: ApprovalRule
    loaded: LoadedApprovalRule
    place: Place

    @property
    def name(self) -> str:
        return self.rule.name

    @property
    def allows(self) -> bool:
        return self.rule.decision == "allow"


@dataclass(frozen=True, slots=True)
class HookRules:
    """The rules of one entry of hooks-rules, in their order."""

    rules: tuple[HookRule, ...]
    base: Path
    source: str
    """What they belong to, in words."""
    path_keys: tuple[str, ...] = PATH_KEYS
    command_keys: tuple[str, ...] = ("command",)
    kind: Literal["hook"] = "hook"


@dataclass(frozen=True, slots=True)
class AnsweringRules:
    """The rules of one approval file, of which the first that matches decides."""

    rules: tuple[AnsweringRule, ...]
    base: Path
    source: str
    otherwise: str = "ask"
    kind: Literal["approval"] = "approval"


@dataclass(frozen=True, slots=True)
class StandingGrant:
    """An "always" that is kept in the store, with a call that it allows."""

    id: str
    author: str
    hook: str
    tool: str
    description: str
    uses: int = 0
    input: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"standing rule {shorten_id(self.id)}"


Rules = HookRules | AnsweringRules
