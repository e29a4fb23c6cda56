"""One report: what all sessions did together, and a chapter for each of the newest."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.hook import HookFigures
from amplifier_hooks.insight.reports.figures.intervention import Contradiction
from amplifier_hooks.insight.reports.figures.kept import Kept, Named, count_named
from amplifier_hooks.insight.reports.figures.period import Period
from amplifier_hooks.insight.reports.figures.session import (
    MOST_DAYS,
    MOST_INTERVENTIONS,
    MOST_NAMES,
    SessionFigures,
)
from amplifier_hooks.insight.reports.figures.spending import Spending
from amplifier_hooks.text.short_ids import shorten_ids

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
    hooks: Named[HookFigures] = field(default_factory=lambda: Named(HookFigures, MOST_NAMES))
    days: Named[Day] = field(default_factory=lambda: Named(Day, MOST_DAYS))
    spending: Spending = field(default_factory=Spending)
    waited: float = 0.0
    contradictions: Kept[Contradiction] = field(default_factory=lambda: Kept(MOST_INTERVENTIONS))

    def take(self, session: SessionFigures) -> None:
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
        self._take_questions(session)
        self.interventions.update({k: kept.count for k, kept in session.interventions.items()})
        self.verdicts[session.proof.verdict] += 1
        count_named(self.folders, session.header.folder, MOST_NAMES)
        for name, hook in session.hooks.items():
            self.hooks.take(name).add(hook)
        for date, day in session.days.items():
            self.days.take(date).add(day)
        self.spending.add(session.spending)
        for one in session.contradictions:
            self.contradictions.add(one)
        self.contradictions.count += session.contradictions.left_out

    def _take_questions(self, session: SessionFigures) -> None:
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

    def take(self, session: SessionFigures) -> None:
        """Add a session; the oldest ones make room."""
        self.totals.take(session)
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
