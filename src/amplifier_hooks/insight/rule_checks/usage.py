"""Matches of rules in recorded sessions, counted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.approval import ApprovalQuestion
from amplifier_core.events import ALL_EVENTS, canonical
from amplifier_core.validation.hook import sample_payload
from amplifier_hooks.guards.bash import CommandPattern
from amplifier_hooks.guards.rules.matching import EventView
from amplifier_hooks.guards.rules.rule import Match, as_list, read_command_patterns
from amplifier_hooks.insight.rule_checks.coverage import covers_name
from amplifier_hooks.insight.rule_checks.rules import (
    AnsweringRule,
    AnsweringRules,
    Finding,
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

_CLASS = re.compile(r"\[(.)[^\]]*\]")
_BRACES = re.compile(r"\{([^,{}]*),[^{}]*\}")
_SIMPLER = (
    (re.compile(r"\(\?[a-z]+\)|\\[bAz]|^\^|\$$"), ""),
    (re.compile(r"\\s[+*]?"), " "),
    (re.compile(r"\\d[+*]?"), "1"),
    (re.compile(r"\.[+*]\??"), "x"),
    (re.compile(r"\\([^a-zA-Z0-9])"), r"\1"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """An event, as it could happen."""

    event: str
    data: dict[str, Any]
    hook: str = "hook"

    def to_dict(self) -> dict[str, Any]:
        """What of it the rules are about."""
        about = ("tool_name", "tool_input")
        shown = {key: value for key, value in self.data.items() if key in about}
        return {"event": self.event, **(shown or self.data)}


def make_sample(match: Match, event: str | list[str], hook: str = "hook") -> Sample:
    """An event that may well fit a match."""
    name = _choose_event(event)
    tool_input: dict[str, Any] = {}
    if patterns := read_command_patterns(match.command):
        tool_input["command"] = _write_command(patterns[0])
    if match.path is not None:
        tool_input["file_path"] = _write_path(as_list(match.path)[0])
    data = sample_payload(name)
    if "tool_name" in data:
        data["tool_name"] = _choose_tool(match)
        data["tool_input"] = tool_input or {"command": "true"}
    for key, text in _list_expressions(match):
        _set_field(data, key, _write_text(text))
    data.pop("timestamp", None)
    return Sample(name, data, hook)


def matches_hook_rule(rule: HookRule, group: HookRules, sample: Sample) -> bool:
    """Whether the rule, as the engine has it, applies to an event."""
    tool = str(sample.data.get("tool_name") or "")
    listens = rule.loaded.listens_to(canonical(sample.event), tool)
    return listens and applies(rule, make_view(sample, group))


def make_view(sample: Sample, group: HookRules) -> EventView:
    """The event as the rules of an entry see it."""
    event = canonical(sample.event)
    return EventView(event, sample.data, group.base, group.path_keys, group.command_keys)


def applies(rule: HookRule, view: EventView) -> bool:
    """Whether a rule that listens applies; one that has no answer does not."""
    try:
        return rule.loaded.applies_to(view)
    except Exception:  # noqa: BLE001  no answer of the rule itself, whatever the reason
        return False


def matches_answering_rule(rule: AnsweringRule, group: AnsweringRules, sample: Sample) -> bool:
    """Whether the rule decides a question about an event."""
    return rule.loaded.applies_to(make_question(sample), group.base)


def make_question(sample: Sample) -> ApprovalQuestion:
    """The question that a hook would ask about an event."""
    given = sample.data.get("tool_input")
    return ApprovalQuestion(
        prompt="Allow it?",
        options=("Allow once", "Deny"),
        timeout=60.0,
        default="deny",
        hook=sample.hook,
        event=sample.event,
        tool_name=sample.data.get("tool_name"),
        tool_input=given if isinstance(given, dict) else {},
    )


def fill_glob(glob: str) -> str:
    """A name that a glob fits."""
    filled = _CLASS.sub(lambda found: "x" if found[1] in "!^" else found[1], glob)
    return filled.replace("*", "x").replace("?", "x")


def _choose_event(event: str | list[str]) -> str:
    first = as_list(event)[0]
    fitting = [str(name) for name in ALL_EVENTS if covers_name(first, str(name))]
    preferred = [name for name in fitting if name in ("tool:pre", "tool:post")]
    return (preferred or fitting or [fill_glob(first)])[0]


def _choose_tool(match: Match) -> str:
    if match.tool is not None:
        return fill_glob(as_list(match.tool)[0])
    return "Write" if match.path is not None and match.command is None else "Bash"


def _write_command(pattern: CommandPattern) -> str:
    words = [pattern.program, *pattern.arguments, *pattern.flags]
    return " ".join(fill_glob(word[0]) for word in words)


def _write_path(glob: str) -> str:
    plain = _BRACES.sub(r"\1", glob)
    return fill_glob(plain.replace("**", "x")) + ("x" if plain.endswith("/") else "")


def _write_text(expression: str) -> str:
    text = expression.split("|")[0]
    for pattern, simple in _SIMPLER:
        text = pattern.sub(simple, text)
    return text


def _list_expressions(match: Match) -> Iterator[tuple[str, str]]:
    if isinstance(match.regex, str):
        yield "tool_input.description", match.regex
    elif match.regex is not None:
        yield from match.regex.items()


def _set_field(data: dict[str, Any], field: str, text: str) -> None:
    *steps, last = field.split(".")
    for step in steps:
        below = data.get(step)
        if not isinstance(below, dict):
            return
        data = below
    data[last] = text


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
    usage = Usage()
    hooks = list[_HookCount]()
    answering = list[Answering]()
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
                count.run(item)
        elif isinstance(item, RecordedApproval) and item.stage == "requested" and not item.again:
            usage.questions += 1
            question = to_question(item)
            for one, base, use in answering:
                if one.loaded.applies_to(question, base):
                    use.matched = use.matched + 1
                    use.last = item.time


class _HookCount:
    """Counts for the rules of one entry, which share what they find out about an event."""

    def __init__(self, group: HookRules, uses: Sequence[Use]) -> None:
        self._group = group
        self._rules = list(zip(group.rules, uses, strict=True))
        self._listening: dict[tuple[str, str], list[tuple[HookRule, Use]]] = {}

    def run(self, item: RecordedEvent) -> None:
        """Run the rules on an event."""
        event = canonical(item.event)
        counted = set[str]()
        for data in _list_versions(item):
            tool = str(data.get("tool_name") or "")
            listening = self._find_listening(event, tool)
            occasion = make_view(Sample(event, data), self._group)
            for rule, use in listening:
                if rule.name not in counted and applies(rule, occasion):
                    use.matched = use.matched + 1
                    use.last = item.time
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
