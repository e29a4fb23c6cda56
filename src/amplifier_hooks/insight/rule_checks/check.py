"""All checks of rules, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from amplifier_hooks.insight.rule_checks.conflicts import find_conflicts, find_vain_grants
from amplifier_hooks.insight.rule_checks.coverage import find_impossible
from amplifier_hooks.insight.rule_checks.rules import Finding, Rules, StandingGrant
from amplifier_hooks.insight.rule_checks.usage import Usage, count_usage, find_unused


@dataclass(frozen=True, slots=True)
class Check:
    """What was checked, and what was found."""

    rules: int
    findings: tuple[Finding, ...]
    usage: Usage

    @property
    def problems(self) -> list[Finding]:
        """What is a mistake in the rules."""
        return [one for one in self.findings if not one.is_note]

    @property
    def notes(self) -> list[Finding]:
        """What may well be intended."""
        return [one for one in self.findings if one.is_note]


def check_rules(
    groups: Sequence[Rules],
    trails: Iterable[Path] = (),
    grants: Sequence[StandingGrant] = (),
) -> Check:
    """Find rules that never match, that others shadow or contradict, or that nothing matched."""
    usage = count_usage(groups, trails)
    alone = [finding for group in groups for finding in find_impossible(group)]
    conflicts = [*find_conflicts(groups), *find_vain_grants(groups, grants)]
    found = _leave_repetitions(alone, conflicts, find_unused(usage))
    return Check(sum(len(group.rules) for group in groups) + len(grants), found, usage)


def _leave_repetitions(
    alone: list[Finding], conflicts: list[Finding], unused: Iterable[Finding]
) -> tuple[Finding, ...]:
    """What never matches is in nobody's way; that nothing matched it goes without saying."""
    dead = {_name_first(one) for one in alone if one.kind in ("never matches", "disabled")}
    together = [one for one in conflicts if not dead.intersection(_name_all(one))]
    dead |= {_name_first(one) for one in together if one.kind == "shadowed"}
    return (*alone, *together, *(one for one in unused if _name_first(one) not in dead))


def _name_all(finding: Finding) -> Iterable[tuple[str, str]]:
    return zip(finding.rules, finding.places, strict=True)


def _name_first(finding: Finding) -> tuple[str, str]:
    return finding.rules[0], finding.places[0]
