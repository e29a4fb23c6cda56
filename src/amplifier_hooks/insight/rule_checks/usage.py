"""How often rules match in recorded sessions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import canonical
from amplifier_hooks.insight.rule_checks.finding import Finding
from amplifier_hooks.insight.rule_checks.samples import Sample, applies, make_view
from amplifier_hooks.insight.rule_checks.written_rule import (
    AnsweringRule,
    HookRule,
    HookRules,
    Rules,
)
from amplifier_hooks.trails import (
    RecordedApproval,
    RecordedEvent,
    read_header,
    read_history,
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
    usage, hooks, answering = Usage(), list[_HookCount](), list[Answering]()
    for group in groups:
        uses = [Use(one.name, str(one.place), group.source) for one in group.rules]
        usage.uses += uses
        if isinstance(group, HookRules):
            hooks.append(_HookCount(group, uses))
        else:
            answering += [
                (one, group.base, use) for one, use in zip(group.rules, uses, strict=True)
            ]
    for trail in trails:
        _count_trail(trail, usage, hooks, answering)
    return usage


Answering = tuple[AnsweringRule, Path, Use]


def _count_trail(
    trail: Path, usage: Usage, hooks: Sequence[_HookCount], answering: Sequence[Answering]
) -> None:
    started = read_header(trail).started
    usage.trails += 1
    usage.since = min(filter(None, (usage.since, started)), default="")
    for item in read_history(trail):
        if isinstance(item, RecordedEvent) and not item.again:
            usage.events += 1
            for count in hooks:
                count.take(item)
        elif isinstance(item, RecordedApproval) and item.stage == "requested" and not item.again:
            usage.questions += 1
            question = to_question(item)
            for one, base, use in answering:
                if one.loaded.applies_to(question, base):
                    use.matched, use.last = use.matched + 1, item.time


class _HookCount:
    """Counts for the rules of one entry, which share what they find out about an event."""

    def __init__(self, group: HookRules, uses: Sequence[Use]) -> None:
        self._group = group
        self._rules = list(zip(group.rules, uses, strict=True))
        self._listening: dict[tuple[str, str], list[tuple[HookRule, Use]]] = {}

    def take(self, item: RecordedEvent) -> None:
        """Run the rules on an event."""
        event, counted = canonical(item.event), set[str]()
        for data in _list_versions(item):
            tool = str(data.get("tool_name") or "")
            listening = self._find_listening(event, tool)
            occasion = make_view(Sample(event, data), self._group)
            for rule, use in listening:
                if rule.name not in counted and applies(rule, occasion):
                    use.matched, use.last = use.matched + 1, item.time
                    counted.add(rule.name)
        if item.missing:
            for rule, use in listening:
                use.undecided += rule.name not in counted

    def _find_listening(self, event: str, tool: str) -> list[tuple[HookRule, Use]]:
        found = self._listening.get((event, tool))
        if found is None:
            found = [one for one in self._rules if one[0].loaded.listens_to(event, tool)]
            self._listening[event, tool] = found
        return found


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
