"""All checks of rules, one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from amplifier_hooks.approvals.rules import NAMED_ONLY
from amplifier_hooks.insight.rule_checks.coverage import (
    covers_answering_rule,
    covers_hook_rule,
    denies_what_it_names,
    find_impossible,
    leaves_named_hooks,
)
from amplifier_hooks.insight.rule_checks.rules import (
    AnsweringRule,
    AnsweringRules,
    Finding,
    HookRule,
    HookRules,
    Kind,
    Rules,
    StandingGrant,
)
from amplifier_hooks.insight.rule_checks.usage import (
    Sample,
    Usage,
    count_usage,
    find_unused,
    make_sample,
    matches_answering_rule,
    matches_hook_rule,
)


def find_conflicts(groups: Sequence[Rules]) -> Iterator[Finding]:
    """Within each group, and between guards and approval rules."""
    hooks = [group for group in groups if isinstance(group, HookRules)]
    answering = [group for group in groups if isinstance(group, AnsweringRules)]
    for group in hooks:
        yield from _find_in_hook_rules(group)
    for file in answering:
        yield from _find_in_answering_rules(file)
        for group in hooks:
            yield from _find_between(group, file)


def _find_in_hook_rules(group: HookRules) -> Iterator[Finding]:
    acting = [one for one in group.rules if one.acts]
    for narrow in acting:
        wide = next((one for one in acting if _silences(one, narrow, acting)), None)
        if wide is not None:
            yield from _report_denied(wide, narrow, group)
    for first, second in combinations(acting, 2):
        if first.rule.action == second.rule.action and _are_equal(first, second):
            yield from _compare_settings(first, second)


def _silences(wide: HookRule, narrow: HookRule, acting: Sequence[HookRule]) -> bool:
    """Whether a denial comes before the other rule's answer, whenever that one matches.

    Denials are looked for in their order, before all other answers except changes of the data.
    """
    if wide is narrow or wide.rule.action != "deny" or narrow.rule.action == "modify":
        return False
    if narrow.rule.action == "deny" and acting.index(wide) > acting.index(narrow):
        return False
    return covers_hook_rule(wide, narrow)


def _report_denied(wide: HookRule, narrow: HookRule, group: HookRules) -> Iterator[Finding]:
    sample = make_sample(narrow.rule, narrow.rule.event)
    tried = matches_hook_rule(narrow, group, sample)
    if tried and not matches_hook_rule(wide, group, sample):
        return
    example = sample.to_dict() if tried else None
    differ = narrow.rule.action != "deny"
    if differ and _are_equal(wide, narrow):
        sentence = (
            f"{wide.name!r} denies exactly what {narrow.name!r} answers with "
            f"{narrow.rule.action!r}; the denial wins"
        )
        yield _report("contradiction", (wide, narrow), sentence, example)
        return
    sentence = f"whatever {narrow.name!r} matches, {wide.name!r} has denied before"
    yield _report("shadowed", (narrow, wide), sentence, example)


def _are_equal(first: HookRule, second: HookRule) -> bool:
    return covers_hook_rule(first, second) and covers_hook_rule(second, first)


def _compare_settings(first: HookRule, second: HookRule) -> Iterator[Finding]:
    """Two rules about the same events whose answers cannot both be carried out."""
    names = f"{first.name!r} and {second.name!r}"
    if first.rule.approval_default != second.rule.approval_default:
        sentence = f"{names} ask about the same; one allows when time is up, and the denial wins"
        yield _report("contradiction", (first, second), sentence)
    for path in _find_differences(first.rule.data or {}, second.rule.data or {}, ""):
        sentence = f"{names} change {path} of the same events to different values"
        yield _report("contradiction", (first, second), sentence)


def _find_differences(one: Mapping[str, Any], other: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in one.keys() & other.keys():
        here = f"{path}.{key}" if path else key
        first = one[key]
        second = other[key]
        if isinstance(first, Mapping) and isinstance(second, Mapping):
            yield from _find_differences(first, second, here)
        elif first != second:
            yield here


def _find_in_answering_rules(file: AnsweringRules) -> Iterator[Finding]:
    """The first rule that matches decides."""
    for at, narrow in enumerate(file.rules):
        wide = next((one for one in file.rules[:at] if covers_answering_rule(one, narrow)), None)
        if wide is None:
            continue
        sample = make_sample(narrow.rule, narrow.rule.event, _name_hook(narrow))
        tried = matches_answering_rule(narrow, file, sample)
        if not tried or matches_answering_rule(wide, file, sample):
            yield _report_decided(wide, narrow, sample.to_dict() if tried else None)


def _report_decided(
    wide: AnsweringRule, narrow: AnsweringRule, example: dict[str, Any] | None
) -> Finding:
    differ = wide.rule.decision != narrow.rule.decision
    if differ and covers_answering_rule(narrow, wide):
        sentence = (
            f"{wide.name!r} says {wide.rule.decision} and {narrow.name!r} says "
            f"{narrow.rule.decision} about the same; the first one counts"
        )
        return _report("contradiction", (wide, narrow), sentence, example)
    sentence = f"whatever {narrow.name!r} is about, {wide.name!r} has decided before"
    if leaves_named_hooks(wide, narrow):
        sentence += f", except for questions of {' and '.join(sorted(NAMED_ONLY))}"
    return _report("shadowed", (narrow, wide), sentence, example)


def _find_between(group: HookRules, file: AnsweringRules) -> Iterator[Finding]:
    """What an approval rule allows although a guard denies it before anybody is asked."""
    for answering in (one for one in file.rules if one.allows):
        for guard in _list_denying(group):
            yield from _compare(guard, answering, group, file)


def _compare(
    guard: HookRule, answering: AnsweringRule, group: HookRules, file: AnsweringRules
) -> Iterator[Finding]:
    samples = [
        make_sample(one.rule, one.rule.event, _name_hook(answering)) for one in (answering, guard)
    ]
    both = [one for one in samples if _is_in_both(one, guard, answering, group, file)]
    if denies_what_it_names(guard, answering):
        sentence = (
            f"{answering.name!r} allows what {guard.name!r} denies: nobody is asked about it, so "
            "there is nothing to allow"
        )
        kind: Kind = "contradiction"
    elif both:
        sentence = (
            f"{answering.name!r} allows some of what {guard.name!r} denies; the denial wins there"
        )
        kind = "overlap"
    else:
        return
    example = both[0].to_dict() if both else None
    yield _report(kind, (answering, guard), sentence, example)


def _is_in_both(
    sample: Sample,
    guard: HookRule,
    answering: AnsweringRule,
    group: HookRules,
    file: AnsweringRules,
) -> bool:
    return matches_hook_rule(guard, group, sample) and matches_answering_rule(
        answering, file, sample
    )


def _name_hook(answering: AnsweringRule) -> str:
    hooks = answering.rule.hook
    if hooks is None:
        return "hook"
    return hooks if isinstance(hooks, str) else hooks[0]


def find_vain_grants(groups: Sequence[Rules], grants: Sequence[StandingGrant]) -> Iterator[Finding]:
    """Standing rules whose call a guard denies."""
    for grant in (one for one in grants if one.input):
        about = {"tool_name": grant.tool, "tool_input": grant.input}
        sample = Sample("tool:pre", about, grant.hook)
        for group in (one for one in groups if isinstance(one, HookRules)):
            for guard in _list_denying(group):
                if matches_hook_rule(guard, group, sample):
                    yield _report_vain(grant, guard, sample)


def _list_denying(group: HookRules) -> list[HookRule]:
    return [one for one in group.rules if one.acts and one.rule.action == "deny"]


def _report_vain(grant: StandingGrant, guard: HookRule, sample: Sample) -> Finding:
    return Finding(
        "contradiction",
        (grant.name, guard.name),
        ("the store", str(guard.place)),
        f"{grant.name} of {grant.author} allows what {guard.name!r} denies: {grant.description}",
        sample.to_dict(),
    )


def _report(
    kind: Kind,
    rules: Sequence[HookRule | AnsweringRule],
    sentence: str,
    example: dict[str, Any] | None = None,
) -> Finding:
    names = tuple(one.name for one in rules)
    return Finding(kind, names, tuple(str(one.place) for one in rules), sentence, example)


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
