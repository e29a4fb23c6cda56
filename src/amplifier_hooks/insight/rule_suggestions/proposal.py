"""A rule that is proposed: with the evidence for it, and what it would have done."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from amplifier_hooks.insight.rule_suggestions.evidence import Question


@dataclass(slots=True)
class Also:
    """Calls of one kind that a rule would have let through besides, with some of them."""

    what: str
    count: int = 0
    examples: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Backtest:
    """What a rule would have done in the recorded sessions."""

    questions: int = 0
    """How many questions the hook asked in all."""
    saved: int = 0
    """How many of those the rule would have answered."""
    calls: int = 0
    """How many calls were looked at."""
    also: dict[str, Also] = field(default_factory=dict)
    """What people were not asked about, or did not answer, and the rule would have allowed."""

    def note(self, what: str, example: str) -> None:
        """Keep a call that the rule would have let through without anybody's word."""
        found = self.also.setdefault(what, Also(what))
        found.count += 1
        if example not in found.examples and len(found.examples) < 3:
            found.examples.append(example)


@dataclass(frozen=True, slots=True)
class Support:
    """How often people said yes, who, and when."""

    approvals: int
    remembered: int
    sessions: int
    days: int
    people: dict[str, int]
    first: str
    last: str
    examples: tuple[str, ...]
    folder: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """A rule that nobody has to take."""

    rule: dict[str, Any]
    """As it stands in an approval file."""
    support: Support
    warnings: tuple[str, ...]
    backtest: Backtest = field(default_factory=Backtest)

    @property
    def name(self) -> str:
        return str(self.rule["name"])


@dataclass(frozen=True, slots=True)
class Withheld:
    """What people allowed often enough, and no rule is proposed for."""

    example: str
    approvals: int
    reason: str


def sum_up(questions: Sequence[Question]) -> Support:
    """The evidence of questions that people answered with yes."""
    times = sorted(one.time for one in questions)
    people = Counter(one.by or "(unknown)" for one in questions)
    examples = dict.fromkeys(show_call(one.tool, one.input) for one in questions)
    return Support(
        approvals=len(questions),
        remembered=sum(one.remembered for one in questions),
        sessions=len({one.session for one in questions}),
        days=len({one.day for one in questions}),
        people=dict(people.most_common()),
        first=times[0],
        last=times[-1],
        examples=tuple(examples)[:3],
        folder=questions[0].folder,
    )


def show_call(tool: str, given: dict[str, Any]) -> str:
    """A call in one line, for people."""
    for key in ("command", "file_path", "path", "notebook_path", "url"):
        if isinstance(given.get(key), str):
            return f"{tool} {given[key]}"
    return f"{tool} {json.dumps(given, ensure_ascii=False, default=str)}"
