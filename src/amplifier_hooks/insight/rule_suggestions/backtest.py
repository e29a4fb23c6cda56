"""What proposed rules would have done in recorded sessions, told by the rules themselves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from amplifier_core.events import TOOL_PRE, canonical
from amplifier_hooks.insight.rule_suggestions.evidence import Question
from amplifier_hooks.insight.rule_suggestions.proposal import Proposal, show_call
from amplifier_hooks.insight.rule_suggestions.trial import Trial
from amplifier_hooks.trails import RecordedEvent, read_history

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
    tool, given = item.left.get("tool_name"), item.left.get("tool_input")
    if item.again or not isinstance(tool, str) or not isinstance(given, dict):
        return
    asking = {one.hook for one in item.answers if one.action == "ask_user"}
    for proposal, trial in tried:
        proposal.backtest.calls += 1
        if trial.hook not in asking and trial.allows(tool, given):
            what = DENIED if item.action == "deny" else NOT_ASKED
            proposal.backtest.note(what, show_call(tool, given))
