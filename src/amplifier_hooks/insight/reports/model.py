"""Everything that a report says: the figures of sessions, and of all of them together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from amplifier_audit import AuditError, Report
from amplifier_audit.log_directory import open_remains
from amplifier_audit.quick_lines import Shapes
from amplifier_core.hook_counts import HookCounts
from amplifier_hooks.agent.session.inspection.evidence import Check, Evidence
from amplifier_hooks.guards.cost_control import compute_cost, find_price
from amplifier_hooks.insight.changes import find_changes
from amplifier_hooks.insight.reports.excerpts import (
    SHORT,
    BoundedGroups,
    BoundedList,
    Excerpt,
    PendingItems,
    Spans,
    count_named,
    cut_text,
    cut_value,
    measure,
)
from amplifier_hooks.text.short_ids import shorten_ids
from amplifier_hooks.trails import Header, RecordedApproval, RecordedEvent, RecordedHook

Outcome = Literal[
    "done", "failed", "denied", "refused", "stopped", "unknown", "running", "not run", "not started"
]

MOST_STEPS = 40


@dataclass(slots=True)
class Call:
    """One call of a tool, and what became of it."""

    time: str
    tool: str
    id: str = ""
    about: str = ""
    input: Excerpt = field(default_factory=Excerpt)
    outcome: Outcome = "not started"
    by: str = ""
    """Who denied or refused it."""
    reason: str = ""
    result: Excerpt = field(default_factory=Excerpt)
    ms: float | None = None
    gated: bool = False
    """Whether a person or a rule had to allow it."""
    is_command: bool = False
    changed: bool = False
    """Whether a hook changed its input or its result."""
    contradicted: bool = False
    """Whether the agent showed a result of it although it was denied."""


@dataclass(slots=True)
class AgentText:
    """What the agent wrote between its calls."""

    time: str
    text: Excerpt


@dataclass(slots=True)
class Turn:
    """From a prompt to its answer."""

    session: str
    number: int
    started: str
    agent: str = ""
    """The name of the sub-agent; empty for the session itself."""
    ended: str = ""
    prompt: Excerpt = field(default_factory=Excerpt)
    answer: Excerpt = field(default_factory=Excerpt)
    status: str = ""
    tokens: int = 0
    money: float | None = None
    calls: int = 0
    steps: BoundedList[Call | AgentText] = field(default_factory=lambda: BoundedList(MOST_STEPS))


MOST_QUESTIONS = 200
_MOST_OPEN = 256
_NOBODY_WAITED_FOR = frozenset({"rule", "cache", "nobody", "invalid", "error"})
"""Ways to decide in which no person had the question before them."""

Key = tuple[str, str, str]


@dataclass(slots=True)
class Question:
    """A question of a hook, and its answer."""

    asked: str
    hook: str
    event: str = ""
    tool: str = ""
    prompt: Excerpt = field(default_factory=Excerpt)
    input: Excerpt = field(default_factory=Excerpt)
    digest: str = ""
    outcome: str = "open"
    """`allowed`, `refused`, `expired`, `cancelled`, `remembered`, `not_run`, `not_known` or `open`.

    Of a question that another program asks its own person: `allowed` if what was asked about ran,
    `not_run` if it did not, and `not_known` as long as nothing shows either.
    """
    decided: str = ""
    by: str = ""
    how: str = ""
    decision: str = ""
    comment: str = ""
    edited: bool = False
    waited: float | None = None
    to: str = ""
    """The program that asks its own person, if one does."""
    evidence: str = ""
    """What shows what came of that."""


class Questions:
    """All questions of a session: the first and the last ones whole, the others counted."""

    def __init__(self) -> None:
        self.kept: BoundedList[Question] = BoundedList(MOST_QUESTIONS)
        self.waits = Spans()
        self.asked = self.allowed = self.refused = self.expired = self.cancelled = 0
        self.remembered = self.handed_over = self.not_run = self.not_known = 0
        self.waited = 0.0
        self._open: PendingItems[Key, Question] = PendingItems(_MOST_OPEN)
        self._handed: PendingItems[Key, Question] = PendingItems(_MOST_OPEN)

    def add_step(self, step: RecordedApproval) -> Question:
        """Note a step of a question; returns the question."""
        key = (step.session, step.hook, step.digest)
        if step.stage == "requested":
            return self._ask(key, step)
        if step.stage == "handed_over":
            return self._hand_over(key, step)
        if step.stage == "outcome":
            return self._learn(step)
        if step.settles:
            self._settle(step.settles)
        question = self._open.pop(key, None) or self._ask_late(step)
        question.decided = step.time
        question.by = step.by
        question.how = step.how
        question.decision = step.decision
        question.comment = step.comment[:1_000]
        question.edited = step.edited
        question.outcome = _name_outcome(step)
        setattr(self, question.outcome, getattr(self, question.outcome) + 1)
        if step.stage != "remembered" and step.how not in _NOBODY_WAITED_FOR:
            self.waits.add(question.asked, step.time)
            question.waited = measure(question.asked, step.time)
            self.waited += question.waited or 0.0
        return question

    @property
    def open(self) -> int:
        """How many have no answer in the trail."""
        ended = self.allowed + self.refused + self.expired + self.cancelled
        return self.asked - ended - self.not_run - self.not_known

    def _ask(self, key: Key, step: RecordedApproval) -> Question:
        known = self._handed.get(_name(step)) if step.again else None
        if known is not None:
            self._open[key] = known
            return known
        self.asked += not step.again
        question = _make_question(step)
        self._open[key] = question
        self.kept.add(question)
        return question

    def _hand_over(self, key: Key, step: RecordedApproval) -> Question:
        """Another program asks: nobody waits here, and nothing is known yet."""
        question = self._open.pop(key, None) or self._ask_late(step)
        self._handed[_name(step)] = question
        question.to = step.to
        question.how = "handed_over"
        if not step.again:
            question.outcome = "not_known"
            self.handed_over += 1
            self.not_known += 1
        return question

    def _learn(self, step: RecordedApproval) -> Question:
        """Something shows what came of it."""
        self._settle(step.settles)
        question = self._handed.get(_name(step)) or _make_question(step)
        question.to = step.to
        question.how = "handed_over"
        question.outcome = step.state
        question.evidence = step.evidence
        question.decided = step.time
        setattr(self, step.state, getattr(self, step.state) + 1)
        return question

    def _settle(self, state: str) -> None:
        """It counts as something else from now on."""
        if state:
            setattr(self, state, getattr(self, state) - 1)

    def _ask_late(self, step: RecordedApproval) -> Question:
        """An answer whose question is not in this part of the trail, or was never put."""
        self.asked += step.stage != "remembered" and not step.again and not step.settles
        question = _make_question(step)
        self.kept.add(question)
        return question


def _name(step: RecordedApproval) -> Key:
    """A question about one call, whatever else was asked in the same words."""
    return step.session, step.hook, f"{step.call_id} {step.digest}"


def _make_question(step: RecordedApproval) -> Question:
    return Question(
        asked=step.time,
        hook=step.hook,
        event=step.event,
        tool=step.tool,
        prompt=cut_text(step.prompt),
        input=cut_value(step.input),
        digest=step.digest,
    )


def _name_outcome(step: RecordedApproval) -> str:
    if step.stage in ("expired", "cancelled", "remembered"):
        return step.stage
    if step.how == "timeout":
        return "expired"
    return "allowed" if step.allowed else "refused"


Kind = Literal["denial", "change", "injection", "failure", "shadow", "message"]

MOST_FIELDS = 8
_FIELD_LENGTH = 600
_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Field:
    """A value that a hook changed."""

    path: str
    before: Excerpt
    after: Excerpt


@dataclass(frozen=True, slots=True)
class Intervention:
    """A denial, a change, an injection, a failure, or what shadow mode kept from happening."""

    kind: Kind
    time: str
    turn: int
    hook: str
    event: str
    about: str = ""
    """What it was about: the call, the prompt."""
    reason: str = ""
    fields: tuple[Field, ...] = ()
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A call that was denied, and of which the agent shows a result all the same."""

    time: str
    turn: int
    session: str
    hook: str
    """Who denied it."""
    tool: str
    id: str
    about: str
    reason: str
    agent: str
    """Who shows the result."""
    shown: str
    """`result` or `failure`."""
    success: bool


def list_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Field, ...]:
    """The values that a hook changed, the first few of them."""
    changes = find_changes(before, after, levels=_DEEPEST)
    return tuple(
        Field(
            one.field[:SHORT],
            cut_value(one.then, _FIELD_LENGTH),
            cut_value(one.now, _FIELD_LENGTH),
        )
        for one in islice(changes, MOST_FIELDS)
    )


_MOST_MODELS = 50


@dataclass(slots=True)
class Spent:
    """What one model was asked for."""

    requests: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    tokens: int = 0
    money: float = 0.0
    unpriced: int = 0
    """Tokens for which there is no price."""

    def add(self, other: Spent) -> None:
        """Take the figures of another one in."""
        self.requests += other.requests
        self.input += other.input
        self.output += other.output
        self.cached += other.cached
        self.tokens += other.tokens
        self.money += other.money
        self.unpriced += other.unpriced


@dataclass(slots=True)
class Spending:
    """What a session, or several, spent on models."""

    models: BoundedGroups[Spent] = field(default_factory=lambda: BoundedGroups(Spent, _MOST_MODELS))

    def add_usage(self, model: str, usage: Mapping[str, Any]) -> Spent:
        """Count one reply of a model; returns what it was."""
        price = find_price(model, {}, None)
        tokens, money = compute_cost(dict(usage), price)
        told = usage.get("cost_usd")
        is_told = isinstance(told, int | float) and 0 <= told < float("inf")
        one = Spent(
            requests=1,
            input=_read_count(usage, "input_tokens"),
            output=_read_count(usage, "output_tokens"),
            cached=_read_count(usage, "cache_read_tokens"),
            tokens=tokens,
            money=float(told) if is_told and told is not None else money,
            unpriced=0 if price or is_told else tokens,
        )
        self.models.group(model or "(a model without a name)").add(one)
        return one

    def add(self, other: Spending) -> None:
        """Take the figures of another session in."""
        for name, spent in other.models.items():
            self.models.group(name).add(spent)

    @property
    def total(self) -> Spent:
        """All models together."""
        total = Spent()
        for spent in self.models.values():
            total.add(spent)
        return total


def _read_count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and value > 0 else 0


@dataclass(frozen=True, slots=True)
class Proof:
    """The result of a verification, or why there is none."""

    report: Report | None = None
    problem: str = ""
    path: str = ""
    evidence: Evidence = field(default_factory=Evidence)

    @property
    def verdict(self) -> str:
        """`proven`, `consistent`, `recovered`, `tampered`, or `unreadable`."""
        return self.report.verdict if self.report else "unreadable"


def check_trail(
    path: Path,
    evidence: Evidence,
    *,
    owner: str | None = None,
    progress: Callable[[int], None] | None = None,
    shapes: Shapes | None = None,
) -> Proof:
    """Verify a trail with what there is; `owner` is the session that it must be of.

    `shapes` are what lines of other trails look like.
    """
    report = None
    problem = ""
    try:
        files = open_remains(path)
        report = Check(files, evidence, owner, progress=progress, shapes=shapes or Shapes()).run()
    except (AuditError, OSError) as error:
        problem = str(error)
    return Proof(report, problem, str(path), evidence)


@dataclass(frozen=True, slots=True)
class Period:
    """From when and until when; times as records have them, or beginnings of such times."""

    since: str = ""
    until: str = ""

    def holds(self, time: str) -> bool:
        """Whether a time lies in it."""
        return (not self.since or time >= self.since) and (not self.until or time < self.until)

    def __bool__(self) -> bool:
        return bool(self.since or self.until)


_MOST_EVENTS = 12


@dataclass(slots=True)
class HookFigures:
    """The figures of all registrations that go by one name."""

    counts: HookCounts = field(default_factory=HookCounts)
    events: set[str] = field(default_factory=set)
    guard: bool = False
    shadow: bool = False
    module: str = ""

    def register(self, hook: RecordedHook) -> None:
        """Note what it listens to, and how."""
        if len(self.events) < _MOST_EVENTS:
            self.events.add(hook.event)
        self.guard |= hook.on_error == "deny"
        self.shadow |= hook.shadow
        self.module = self.module or hook.module

    def add(self, other: HookFigures) -> None:
        """Take the figures of another session in."""
        self.counts.add(other.counts)
        self.events.update(sorted(other.events)[: _MOST_EVENTS - len(self.events)])
        self.guard |= other.guard
        self.shadow |= other.shadow
        self.module = self.module or other.module


@dataclass(slots=True)
class Day:
    """The figures of one day, in UTC."""

    sessions: int = 0
    calls: int = 0
    denied: int = 0
    asked: int = 0
    changed: int = 0
    tokens: int = 0

    def add(self, other: Day) -> None:
        """Take the figures of another session in."""
        self.sessions += other.sessions
        self.calls += other.calls
        self.denied += other.denied
        self.asked += other.asked
        self.changed += other.changed
        self.tokens += other.tokens


_MOST_PLACES = 50
_NOT_MISSED = "trails do not repeat it"
"""The conversation stands in the records of its turns; nobody misses it in each of them."""


@dataclass(slots=True)
class Gaps:
    """Values that are missing, by reason and by place, and texts in which something is masked."""

    missing: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By reason and place, such as `tool:pre tool_input.content`."""
    masked: Counter[str] = field(default_factory=Counter)
    unverified: int = 0
    """Records that were left out: they stand behind the end that was verified, or twice."""

    def add_event(self, item: RecordedEvent) -> None:
        """Note what an event lacks."""
        for path, why in item.missing.items():
            if why != _NOT_MISSED:
                self._count_missing(why, f"{item.event} {path}".strip()[:200])
        for path in item.masked:
            count_named(self.masked, f"{item.event} {path}"[:200], _MOST_PLACES)

    def _count_missing(self, why: str, place: str) -> None:
        key = (why, place)
        is_full = key not in self.missing and len(self.missing) >= _MOST_PLACES
        self.missing[(why, "(other places)") if is_full else key] += 1


MOST_TURNS = 40
MOST_INTERVENTIONS = 100
MOST_NAMES = 200
MOST_DAYS = 4_000
MOST_OPEN = 256
"""Turns and calls that are kept in mind until they end; a trail may lack the end of any number."""
NAME_LENGTH = 300
REASON_LENGTH = 1_000

KINDS: tuple[Kind, ...] = ("denial", "change", "injection", "failure", "shadow", "message")


def _keep_interventions() -> dict[Kind, BoundedList[Intervention]]:
    return {kind: BoundedList(MOST_INTERVENTIONS) for kind in KINDS}


@dataclass(slots=True)
class SessionFigures:
    """One session, as its trail tells of it; with bounds on everything that could grow."""

    header: Header
    proof: Proof
    name: str = ""
    """The session's title, if it was given one."""
    key: str = ""
    """The public key that the trail says it is signed with."""
    records: int = 0
    first: str = ""
    last: str = ""
    """The times of the first and of the last record that was read."""
    ending: str = ""
    """Why the session ended; empty if the trail does not tell of an end."""
    resumed: int = 0
    turns: BoundedList[Turn] = field(default_factory=lambda: BoundedList(MOST_TURNS))
    calls: Counter[str] = field(default_factory=Counter)
    """By outcome."""
    tools: Counter[str] = field(default_factory=Counter)
    commands: BoundedList[Call] = field(default_factory=lambda: BoundedList(MOST_INTERVENTIONS))
    read: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    hooks: BoundedGroups[HookFigures] = field(
        default_factory=lambda: BoundedGroups(HookFigures, MOST_NAMES)
    )
    unsure: bool = False
    """Whether hooks were called more often than the trail tells."""
    interventions: dict[Kind, BoundedList[Intervention]] = field(
        default_factory=_keep_interventions
    )
    questions: Questions = field(default_factory=Questions)
    spending: Spending = field(default_factory=Spending)
    gaps: Gaps = field(default_factory=Gaps)
    days: BoundedGroups[Day] = field(default_factory=lambda: BoundedGroups(Day, MOST_DAYS))
    agents: Counter[str] = field(default_factory=Counter)
    """Sub-agents, by name."""
    errors: BoundedList[Intervention] = field(
        default_factory=lambda: BoundedList(MOST_INTERVENTIONS)
    )
    """What went wrong apart from hooks."""
    contradictions: BoundedList[Contradiction] = field(
        default_factory=lambda: BoundedList(MOST_INTERVENTIONS)
    )
    """Calls that were denied and ran all the same."""
    working: Spans = field(default_factory=Spans)
    thinking: Spans = field(default_factory=Spans)
    running: Spans = field(default_factory=Spans)
    denying: Spans = field(default_factory=Spans)

    @property
    def id(self) -> str:
        """The session, or the name of its trail."""
        return self.header.session or self.header.path.name

    @property
    def denied(self) -> int:
        """How often hooks said no."""
        return self.interventions["denial"].count

    @property
    def changed(self) -> int:
        """How often hooks changed something."""
        return self.interventions["change"].count

    @property
    def call_count(self) -> int:
        """All calls, whatever became of them."""
        return self.calls.total()


MOST_ROWS = 1_000


@dataclass(frozen=True, slots=True)
class Row:
    """A session in the table of all sessions."""

    id: str
    name: str
    first: str
    last: str
    folder: str
    bundle: str
    ending: str
    turns: int
    calls: int
    denied: int
    contradicted: int
    asked: int
    changed: int
    tokens: int
    money: float
    verdict: str


@dataclass(slots=True)
class Totals:
    """The figures of all sessions together."""

    sessions: int = 0
    records: int = 0
    first: str = ""
    last: str = ""
    turns: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    interventions: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    folders: Counter[str] = field(default_factory=Counter)
    hooks: BoundedGroups[HookFigures] = field(
        default_factory=lambda: BoundedGroups(HookFigures, MOST_NAMES)
    )
    days: BoundedGroups[Day] = field(default_factory=lambda: BoundedGroups(Day, MOST_DAYS))
    spending: Spending = field(default_factory=Spending)
    waited: float = 0.0
    contradictions: BoundedList[Contradiction] = field(
        default_factory=lambda: BoundedList(MOST_INTERVENTIONS)
    )

    def add(self, session: SessionFigures) -> None:
        """Add a session."""
        self.sessions += 1
        self.records += session.records
        if session.first:
            self.first = min(self.first or session.first, session.first)
        self.last = max(self.last, session.last)
        self.turns += session.turns.count
        self.calls.update(session.calls)
        for name, count in session.tools.items():
            count_named(self.tools, name, MOST_NAMES, count)
        self._add_questions(session)
        self.interventions.update({k: kept.count for k, kept in session.interventions.items()})
        self.verdicts[session.proof.verdict] += 1
        count_named(self.folders, session.header.folder, MOST_NAMES)
        for name, hook in session.hooks.items():
            self.hooks.group(name).add(hook)
        for date, day in session.days.items():
            self.days.group(date).add(day)
        self.spending.add(session.spending)
        for one in session.contradictions:
            self.contradictions.add(one)
        self.contradictions.count += session.contradictions.left_out

    def _add_questions(self, session: SessionFigures) -> None:
        questions = session.questions
        for name in QUESTION_OUTCOMES:
            self.questions[name] += getattr(questions, name)
        self.waited += questions.waited


QUESTION_OUTCOMES = (
    "asked",
    "allowed",
    "refused",
    "expired",
    "cancelled",
    "open",
    "remembered",
    "handed_over",
    "not_run",
    "not_known",
)


@dataclass(slots=True)
class ReportFigures:
    """Everything that a report says."""

    made: str
    period: Period = field(default_factory=Period)
    totals: Totals = field(default_factory=Totals)
    rows: list[Row] = field(default_factory=list)
    """The newest sessions first."""
    chapters: list[SessionFigures] = field(default_factory=list)
    """The newest first."""
    unreadable: list[tuple[str, str]] = field(default_factory=list)
    """Trails that could not be read, each with the reason."""
    empty: int = 0
    """Trails that have nothing of the period."""
    chapter_limit: int = 0
    names_beside: frozenset[str] = frozenset()
    """The names of all trails where commands look for one."""

    def add(self, session: SessionFigures) -> None:
        """Add a session; the oldest ones make room."""
        self.totals.add(session)
        self.rows = _keep_newest([*self.rows, make_row(session)], MOST_ROWS)
        self.chapters = _keep_newest([*self.chapters, session], self.chapter_limit)

    def shorten_ids(self) -> dict[str, str]:
        """The ids of the sessions, short, as a command takes them."""
        return shorten_ids((row.id for row in self.rows), self.names_beside)


def _keep_newest(sessions: list, most: int) -> list:  # type: ignore[type-arg]
    return sorted(sessions, key=lambda one: one.first, reverse=True)[:most]


def make_row(session: SessionFigures) -> Row:
    """A session as a row of a table."""
    spent = session.spending.total
    return Row(
        id=session.id,
        name=session.name,
        first=session.first,
        last=session.last,
        folder=session.header.folder,
        bundle=session.header.bundle,
        ending=session.ending,
        turns=session.turns.count,
        calls=session.call_count,
        denied=session.denied,
        contradicted=session.contradictions.count,
        asked=session.questions.asked,
        changed=session.changed,
        tokens=spent.tokens,
        money=spent.money,
        verdict=session.proof.verdict,
    )
