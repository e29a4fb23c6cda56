"""Everything that a report says of one session."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.gaps import Gaps
from amplifier_hooks.insight.reports.figures.hook import HookFigures
from amplifier_hooks.insight.reports.figures.intervention import Contradiction, Intervention, Kind
from amplifier_hooks.insight.reports.figures.kept import Kept, Named
from amplifier_hooks.insight.reports.figures.moment import Spans
from amplifier_hooks.insight.reports.figures.proof import Proof
from amplifier_hooks.insight.reports.figures.question import Questions
from amplifier_hooks.insight.reports.figures.spending import Spending
from amplifier_hooks.insight.reports.figures.step import Call, Turn
from amplifier_hooks.trails import Header

MOST_TURNS = 40
MOST_INTERVENTIONS = 100
MOST_NAMES = 200
MOST_DAYS = 4_000
MOST_OPEN = 256
"""Turns and calls that are kept in mind until they end; a trail may lack the end of any number."""
NAME_LENGTH = 300
REASON_LENGTH = 1_000

KINDS: tuple[Kind, ...] = ("denial", "change", "injection", "failure", "shadow", "message")


def _keep_interventions() -> dict[Kind, Kept[Intervention]]:
    return {kind: Kept(MOST_INTERVENTIONS) for kind in KINDS}


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
    turns: Kept[Turn] = field(default_factory=lambda: Kept(MOST_TURNS))
    calls: Counter[str] = field(default_factory=Counter)
    """By outcome."""
    tools: Counter[str] = field(default_factory=Counter)
    commands: Kept[Call] = field(default_factory=lambda: Kept(MOST_INTERVENTIONS))
    read: Counter[str] = field(default_factory=Counter)
    written: Counter[str] = field(default_factory=Counter)
    hooks: Named[HookFigures] = field(default_factory=lambda: Named(HookFigures, MOST_NAMES))
    unsure: bool = False
    """Whether hooks were called more often than the trail tells."""
    interventions: dict[Kind, Kept[Intervention]] = field(default_factory=_keep_interventions)
    questions: Questions = field(default_factory=Questions)
    spending: Spending = field(default_factory=Spending)
    gaps: Gaps = field(default_factory=Gaps)
    days: Named[Day] = field(default_factory=lambda: Named(Day, MOST_DAYS))
    agents: Counter[str] = field(default_factory=Counter)
    """Sub-agents, by name."""
    errors: Kept[Intervention] = field(default_factory=lambda: Kept(MOST_INTERVENTIONS))
    """What went wrong apart from hooks."""
    contradictions: Kept[Contradiction] = field(default_factory=lambda: Kept(MOST_INTERVENTIONS))
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
