"""How often rules match in recorded sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import canonical
from amplifier_foundation.history import (
    RecordedApproval,
    RecordedEvent,
    read_header,
    read_history,
)
from amplifier_foundation.rule_checks.finding import Finding
from amplifier_foundation.rule_checks.samples import Sample, matches_hook_rule
from amplifier_foundation.rule_checks.written_rule import (
    AnsweringRule,
    AnsweringRules,
    HookRule,
    HookRules,
    Rules,
)


@dataclass(slots=True)
class Use:
    """What recorded sessions tell of one rule."""

    name: str
    place: str
    source: str
    matched: int = 0
    last: str = ""
    undecided: int = 0
    """Events of which the trail has not kept enough to tell."""


@dataclass(slots=True)
class Usage:
    """What recorded sessions tell of all rules, and how many there were."""

    trails: int = 0
    events: int = 0
    questions: int = 0
    since: str = ""
    uses: list[Use] = field(default_factory=list)


def count_usage(groups: Sequence[Rules], trails: Iterable[Path]) -> Usage:
    """Run every rule on every event and every question of the trails.

    Paths in the rules count from the folder that is checked, whichever one a session worked in.
    """
    usage, hooks, answering = Usage(), Hooks(), Answering()
    for group in groups:
        for one in group.rules:
            use = Use(one.name, str(one.place), group.source)
            usage.uses.append(use)
            if isinstance(group, HookRules) and isinstance(one, HookRule):
                hooks.append((group, one, use))
            elif isinstance(group, AnsweringRules) and isinstance(one, AnsweringRule):
                answering.append((group, one, use))
    for trail in trails:
        _count_trail(trail, usage, hooks, answering)
    return usage


Hooks = list[tuple[HookRules, HookRule, Use]]
Answering = list[tuple[AnsweringRules, AnsweringRule, Use]]


def _count_trail(trail: Path, usage: Usage, hooks: Hooks, answering: Answering) -> None:
    started = read_header(trail).started
    usage.trails += 1
    usage.since = min(filter(None, (usage.since, started)), default="")
    for item in read_history(trail):
        if isinstance(item, RecordedEvent) and not item.again:
            usage.events += 1
            for group, rule, use in hooks:
                _count_event(item, group, rule, use)
        elif isinstance(item, RecordedApproval) and item.stage == "requested":
            usage.questions += 1
            question = to_question(item)
            for file, one, use in answering:
                if one.loaded.applies_to(question, file.base):
                    use.matched, use.last = use.matched + 1, item.time


def _count_event(item: RecordedEvent, group: HookRules, rule: HookRule, use: Use) -> None:
    event = canonical(item.event)
    for data in _list_versions(item):
        if not rule.loaded.listens_to(event, str(data.get("tool_name") or "")):
            continue
        if matches_hook_rule(rule, group, Sample(event, data)):
            use.matched, use.last = use.matched + 1, item.time
            return
        if item.missing:
            use.undecided += 1
            return


def _list_versions(item: RecordedEvent) -> Iterator[dict[str, Any]]:
    """As the first hook was given it, and as the last one left it: rules stand in between."""
    yield item.data
    if item.left != item.data:
        yield item.left


def to_question(item: RecordedApproval) -> ApprovalQuestion:
    """The question that was asked."""
    return ApprovalQuestion(
        prompt=item.prompt,
        options=("Allow once", "Deny"),
        timeout=60.0,
        default="deny",
        hook=item.hook,
        event=item.event,
        tool_name=item.tool or None,
        tool_input=item.input if isinstance(item.input, dict) else {},
        digest=item.digest,
    )


def find_unused(usage: Usage) -> Iterator[Finding]:
    """Rules that matched nothing in the trails that were read."""
    if not usage.events:
        return
    looked = f"{usage.events} events and {usage.questions} questions of {usage.trails} sessions"
    for use in usage.uses:
        if use.matched == 0:
            doubt = f"; of {use.undecided}, the trail does not tell" if use.undecided else ""
            sentence = f"matched none of {looked} since {usage.since[:10]}{doubt}"
            yield Finding("matched nothing", (use.name,), (use.place,), sentence)
