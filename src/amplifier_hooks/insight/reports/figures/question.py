"""What people were asked, and what they said."""

from __future__ import annotations

from dataclasses import dataclass, field

from amplifier_hooks.insight.reports.figures.excerpt import Excerpt, cut_text, cut_value
from amplifier_hooks.insight.reports.figures.kept import Kept, Open
from amplifier_hooks.insight.reports.figures.moment import Spans, measure
from amplifier_hooks.trails import RecordedApproval

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
        self.kept: Kept[Question] = Kept(MOST_QUESTIONS)
        self.waits = Spans()
        self.asked = self.allowed = self.refused = self.expired = self.cancelled = 0
        self.remembered = self.handed_over = self.not_run = self.not_known = 0
        self.waited = 0.0
        self._open: Open[Key, Question] = Open(_MOST_OPEN)
        self._handed: Open[Key, Question] = Open(_MOST_OPEN)

    def take(self, step: RecordedApproval) -> Question:
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
        question.decided, question.by, question.how = step.time, step.by, step.how
        question.decision, question.comment = step.decision, step.comment[:1_000]
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
        question.to, question.how = step.to, "handed_over"
        if not step.again:
            question.outcome = "not_known"
            self.handed_over += 1
            self.not_known += 1
        return question

    def _learn(self, step: RecordedApproval) -> Question:
        """Something shows what came of it."""
        self._settle(step.settles)
        question = self._handed.get(_name(step)) or _make_question(step)
        question.to, question.how = step.to, "handed_over"
        question.outcome, question.evidence = step.state, step.evidence
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
