"""Which rules the answers of people suggest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amplifier_core.events import TOOL_PRE, canonical
from amplifier_hooks.approvals.rules import ApprovalRule, load_rule
from amplifier_hooks.guards.rules.matching import Condition, ConditionError
from amplifier_hooks.insight.rule_checks import StandingGrant
from amplifier_hooks.insight.rule_suggestions.drafts import (
    OWNER,
    Draft,
    Key,
    Question,
    ask,
    draft_exact,
    draft_family,
    find_obstacle,
    list_warnings,
    name_rule,
    read_evidence,
)
from amplifier_hooks.modules.options import parse_config
from amplifier_hooks.trails import RecordedEvent, read_history


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


NOT_ASKED = "that ran without a question of this hook"
DENIED = "that a hook denied, and would again"
UNANSWERED = "that no person answered"


def backtest_proposals(
    proposals: Sequence[Proposal], questions: Iterable[Question], trails: Iterable[Path]
) -> None:
    """Run every rule on every question and every call, and note what it would have allowed."""
    if not proposals:
        return
    tried = [(one, Trial(one.rule, Path(one.support.folder or "/"))) for one in proposals]
    for question in questions:
        for proposal, trial in tried:
            _try_question(proposal, trial, question)
    for trail in trails:
        for item in read_history(trail):
            if isinstance(item, RecordedEvent) and canonical(item.event) == TOOL_PRE:
                _try_call(tried, item)


def _try_question(proposal: Proposal, trial: Trial, question: Question) -> None:
    if question.hook != trial.hook:
        return
    proposal.backtest.questions += 1
    if trial.allows_question(question):
        proposal.backtest.saved += 1
        if question.said == "nothing":
            proposal.backtest.note(UNANSWERED, show_call(question.tool, question.input))


def _try_call(tried: Sequence[tuple[Proposal, Trial]], item: RecordedEvent) -> None:
    tool = item.left.get("tool_name")
    given = item.left.get("tool_input")
    if item.again or not isinstance(tool, str) or not isinstance(given, dict):
        return
    asking = {one.hook for one in item.answers if one.action == "ask_user"}
    for proposal, trial in tried:
        proposal.backtest.calls += 1
        if trial.hook not in asking and trial.allows(tool, given):
            what = DENIED if item.action == "deny" else NOT_ASKED
            proposal.backtest.note(what, show_call(tool, given))


_FEWEST_FILES = 3
"""How many different files people must have allowed before a rule is about more than those."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """How much evidence a rule needs."""

    approvals: int = 5
    sessions: int = 2
    days: int = 2

    def are_met(self, questions: Sequence[Question]) -> bool:
        """Whether these yeses are enough; an agent alone can make many of them in a session."""
        return (
            len(questions) >= self.approvals
            and len({one.session for one in questions}) >= self.sessions
            and len({one.day for one in questions}) >= self.days
        )


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What is proposed, what is not although people allowed it often, and what was looked at."""

    proposals: tuple[Proposal, ...]
    withheld: tuple[Withheld, ...]
    questions: int
    trails: int
    since: str
    tampered: tuple[Path, ...] = ()
    """Trails that were changed after they were written, and were left out."""


def suggest_rules(
    trails: Sequence[Path],
    thresholds: Thresholds | None = None,
    grants: Sequence[StandingGrant] = (),
) -> Suggestions:
    """Propose narrow rules for what people allowed again and again.

    `grants` are the standing rules there are: a rule that says the same is proposed with a note.
    """
    evidence = read_evidence(trails)
    proposals, withheld = propose_rules(evidence.questions, thresholds or Thresholds(), grants)
    backtest_proposals(proposals, evidence.questions, evidence.trails)
    return Suggestions(
        tuple(proposals),
        tuple(withheld),
        len(evidence.questions),
        len(evidence.trails),
        evidence.since,
        tuple(evidence.tampered),
    )


def propose_rules(
    questions: Sequence[Question], needed: Thresholds, grants: Sequence[StandingGrant] = ()
) -> tuple[list[Proposal], list[Withheld]]:
    """The rules that questions and their answers suggest, and what is withheld."""
    search = _Search(questions, needed, grants)
    search.run()
    return search.proposals, search.withheld


class _Search:
    def __init__(
        self, questions: Sequence[Question], needed: Thresholds, grants: Sequence[StandingGrant]
    ) -> None:
        self._questions = questions
        self._grants = grants
        self._needed = needed
        self._obstacles = {id(one): find_obstacle(one) for one in questions}
        self.proposals: list[Proposal] = []
        self.withheld: list[Withheld] = []

    def run(self) -> None:
        """Families first: a call that a wider rule covers needs no rule of its own."""
        left = [one for one in self._questions if one.said == "yes"]
        for draft in (draft_family, draft_exact):
            for group, drafted in self._group(left, draft):
                if self._try(group, drafted):
                    taken = {id(one) for one in group}
                    left = [one for one in left if id(one) not in taken]
        self._explain(left)

    def _group(
        self, questions: Iterable[Question], draft: Callable[[Question], Draft | None]
    ) -> list[tuple[list[Question], Draft]]:
        found: dict[Key, tuple[list[Question], Draft]] = {}
        for one in questions:
            drafted = None if self._obstacles[id(one)] else draft(one)
            if drafted is not None:
                found.setdefault(drafted.key, ([], drafted))[0].append(one)
        return [entry for entry in found.values() if self._needed.are_met(entry[0])]

    def _try(self, group: Sequence[Question], draft: Draft) -> bool:
        """Propose a rule, unless people said no to something that it would allow."""
        calls = {show_call(one.tool, one.input) for one in group}
        if draft.is_family and len(calls) < _FEWEST_FILES:
            return False
        name = name_rule(draft, [one.name for one in self.proposals])
        written = {"name": name, **draft.conditions, "decision": "allow"}
        trial = Trial(written, Path(group[0].folder or "/"))
        if not all(map(trial.allows_question, group)):
            return False
        if (no := self._find_refused(trial)) is not None:
            self._note_refusal(no, group, draft)
            return False
        warnings = (*list_warnings(group[0]), *self._list_standing(trial))
        self.proposals.append(Proposal(written, sum_up(group), warnings))
        return True

    def _list_standing(self, trial: Trial) -> Iterator[str]:
        for one in self._grants:
            if one.hook == trial.hook and trial.allows(one.tool, one.input):
                yield f"{one.name} of {one.author} allows some of it already"

    def _find_refused(self, trial: Trial) -> Question | None:
        """A call that somebody refused, or that did not run where another program asked, and
        the rule would allow."""
        refused = (one for one in self._questions if one.said in ("no", "not run"))
        return next(filter(trial.allows_question, refused), None)

    def _note_refusal(self, no: Question, group: Sequence[Question], draft: Draft) -> None:
        """Say so where the calls themselves may be too few for rules of their own."""
        if draft.is_family:
            refused = show_call(no.tool, no.input)
            example = f"{show_call(group[0].tool, group[0].input)} and others like it"
            reason = _say_refused(no, refused)
            self.withheld.append(Withheld(example, len(group), reason))

    def _explain(self, left: Sequence[Question]) -> None:
        """Say why there is no rule for what people allowed often."""
        calls: dict[tuple[str, str, str], list[Question]] = {}
        for one in left:
            calls.setdefault((one.hook, one.folder, show_call(one.tool, one.input)), []).append(one)
        for (_, _, call), group in calls.items():
            if len(group) >= self._needed.approvals:
                self.withheld.append(Withheld(call, len(group), self._find_reason(group)))

    def _find_reason(self, group: Sequence[Question]) -> str:
        if obstacle := self._obstacles[id(group[0])]:
            return obstacle
        if not self._needed.are_met(group):
            sessions = len({one.session for one in group})
            days = len({one.day for one in group})
            return f"it was in {_count(sessions, 'session')} on {_count(days, 'day')} only"
        draft = draft_exact(group[0])
        if draft is None:
            return "no rule can be written that is about this call alone"
        written = {"name": "x", **draft.conditions, "decision": "allow"}
        no = self._find_refused(Trial(written, Path(group[0].folder or "/")))
        if no is not None:
            return _say_refused(no, "it")
        return "rules do not allow what it does besides, such as writing to a file"


def _say_refused(no: Question, what: str) -> str:
    if no.said == "not run":
        return f"{what} did not run after {no.by} on {no.day}"
    return f"{no.by or 'somebody'} refused {what} on {no.day}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
