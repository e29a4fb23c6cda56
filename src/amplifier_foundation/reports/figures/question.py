"""What people were asked, and what they said."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_foundation.history import RecordedApproval
from amplifier_foundation.reports.figures.excerpt import Excerpt, cut_text, cut_value
from amplifier_foundation.reports.figures.kept import Kept, Open
from amplifier_foundation.reports.figures.moment import Spans, measure

MOST_QUESTIONS = 200
_MOST_OPEN = 256

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
    """`allowed`, `refused`, `expired`, `cancelled`, `remembered`, or `open`."""
    decided: str = ""
    by: str = ""
    how: str = ""
    decision: str = ""
    comment: str = ""
    edited: bool = False
    waited: float | None = None


class Questions:
    """All questions of a session: the first and the last ones whole, the others counted."""

    def __init__(self) -> None:
        self.kept: Kept[Question] = Kept(MOST_QUESTIONS)
        self.waits = Spans()
        self.asked = self.allowed = self.refused = self.expired = self.cancelled = 0
        self.remembered = 0
        self.waited = 0.0
        self._open: Open[Key, Question] = Open(_MOST_OPEN)

    def take(self, step: RecordedApproval) -> Question:
        """Note a step of a question; returns the question."""
        key = (step.session, step.hook, step.digest)
        if step.stage == "requested":
            return self._ask(key, step)
        question = self._open.pop(key, None) or self._ask_late(step)
        question.decided, question.by, question.how = step.time, step.by, step.how
        question.decision, question.comment = step.decision, step.comment[:1_000]
        question.edited = step.edited
        question.outcome = _name_outcome(step)
        setattr(self, question.outcome, getattr(self, question.outcome) + 1)
        if step.stage != "remembered":
            self.waits.add(question.asked, step.time)
            question.waited = measure(question.asked, step.time)
            self.waited += question.waited or 0.0
        return question

    @property
    def open(self) -> int:
        """How many have no answer in the trail."""
        return self.asked - self.allowed - self.refused - self.expired - self.cancelled

    def _ask(self, key: Key, step: RecordedApproval) -> Question:
        self.asked += 1
        question = _make_question(step)
        self._open[key] = question
        self.kept.add(question)
        return question

    def _ask_late(self, step: RecordedApproval) -> Question:
        """An answer whose question is not in this part of the trail, or was never put."""
        self.asked += step.stage != "remembered"
        question = _make_question(step)
        self.kept.add(question)
        return question


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
