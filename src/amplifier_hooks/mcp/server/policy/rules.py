"""The rules of hooks-rules, as their author put them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from amplifier_core.errors import AmplifierError
from amplifier_core.mount_plan import ModuleEntry, MountPlan
from amplifier_hooks.agent.trust.material import Material
from amplifier_hooks.guards.rules.config import NAME, Config, read_rules
from amplifier_hooks.guards.rules.rule import Match, Rule, as_list

_LOOKS_FOR = ("tool", "path", "command", "regex", "when")


class RuleInWords(BaseModel):
    """One rule: when it applies, and what it answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    events: list[str]
    action: str
    applies_to: dict[str, Any] = Field(description="All of this must hold; empty: to everything.")
    unless: dict[str, Any] = Field(description="It does not apply where all of this holds.")
    says: str = Field(description="Its reason, question or text.")
    only_tried: bool = Field(description="It is a trial: it says what it would do, and does not.")


def describe_rules(material: Material) -> list[RuleInWords]:
    """The rules that are switched on; none of a module whose options are wrong."""
    plan = MountPlan.parse(material.bundle.mount_plan)
    return [
        rule
        for entry in plan.hooks
        if entry.module == NAME and entry.source is None
        for rule in _read(entry, material)
    ]


def _read(entry: ModuleEntry, material: Material) -> list[RuleInWords]:
    try:
        config = Config.model_validate(entry.config)
        found = read_rules(config, material.folder, material.snapshot.read)
    except (ValidationError, AmplifierError, OSError):
        return []  # the failure of the module says it
    rules = [one.rule for one in found]
    return [_describe(rule, tried=config.dry_run or rule.dry_run) for rule in rules]


def _describe(rule: Rule, *, tried: bool) -> RuleInWords:
    said = (rule.description, rule.reason, rule.approval_prompt, rule.context_injection)
    return RuleInWords(
        name=rule.name,
        events=as_list(rule.event),
        action=rule.action,
        applies_to=_list_conditions(rule),
        unless=_list_conditions(rule.unless) if rule.unless else {},
        says=" · ".join(text for text in said if text),
        only_tried=tried,
    )


def _list_conditions(match: Match) -> dict[str, Any]:
    written = match.model_dump(mode="json", include=set(_LOOKS_FOR), exclude_none=True)
    return {name: written[name] for name in _LOOKS_FOR if name in written}
