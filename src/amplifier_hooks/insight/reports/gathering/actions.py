"""What the agent did, from whichever records tell of it."""

from __future__ import annotations

from collections.abc import Callable

from amplifier_audit.own_records import LogBroken, LogOpened
from amplifier_core.events import canonical
from amplifier_core.records import (
    DenialContradicted,
    ErrorNoted,
    SessionEnded,
    SessionStarted,
    SessionSuspended,
)
from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.excerpt import find_message, summarize, to_text
from amplifier_hooks.insight.reports.figures.intervention import Contradiction, Intervention
from amplifier_hooks.insight.reports.figures.session import (
    NAME_LENGTH,
    REASON_LENGTH,
    SessionFigures,
)
from amplifier_hooks.insight.reports.gathering.calls import Calls
from amplifier_hooks.insight.reports.gathering.turns import Turns
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)

Take = Callable[[RecordedEvent, Day], None]


class Actions:
    """Hands each record to those who put turns and calls together."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._turns = Turns(figures)
        self._calls = Calls(figures, self._turns)
        self._events = self._list_events()

    def _list_events(self) -> dict[str, Take]:
        turns, calls = self._turns, self._calls
        return {
            "prompt:submit": turns.submit,
            "prompt:answer": turns.answer,
            "prompt:complete": turns.answer,
            "orchestrator:complete": turns.conclude,
            "provider:request": turns.request,
            "provider:response": turns.respond,
            "provider:error": self._fail,
            "error:orchestration": self._fail,
            "module:load_failed": self._fail,
            "tool:pre": calls.begin,
            "tool:post": calls.end,
            "tool:error": calls.fail,
            "artifact:read": calls.read_file,
            "artifact:write": calls.write_file,
        }

    def note_agents(self, item: Item) -> None:
        """Learn the names of sub-agents, also from what is outside the period."""
        if isinstance(item, RecordedEvent) and item.event == "session:fork":
            self._turns.name_agent(item)

    def take_event(self, item: RecordedEvent, day: Day) -> None:
        """Take what an event tells of the agent."""
        self.note_agents(item)
        take = self._events.get(canonical(item.event))
        if take is not None:
            take(item, day)

    def take_call(self, item: RecordedCall, day: Day) -> None:
        """Take the start or the end of a call."""
        self._calls.take(item, day)

    def take_approval(self, item: RecordedApproval) -> None:
        """Take what became of a call that somebody was asked about."""
        self._calls.take_approval(item)

    def take_note(self, item: Note) -> None:
        """Take how the session began, broke and ended."""
        figures = self._figures
        match item.body:
            case DenialContradicted() as body:
                self._contradict(item, body)
            case SessionEnded(reason=reason) if item.session == figures.header.session:
                figures.ending = reason[:NAME_LENGTH] or "ended"
            case SessionSuspended():
                figures.ending = "suspended"
            case SessionStarted(parent=None | "", resumed=resumed):
                figures.resumed += resumed
                figures.ending = ""
            case LogOpened(key=key):
                figures.key = (key or "")[:NAME_LENGTH] or figures.key
            case ErrorNoted(what=what, error=error, why=why):
                self._add_error(item, what or "error", to_text(error or why))
            case LogBroken(why=why):
                self._add_error(item, "broken", why)

    def _contradict(self, item: Note, body: DenialContradicted) -> None:
        call = self._calls.contradict(item.session, body.id)
        about = summarize(body.input) or ("" if call is None else call.about)
        one = Contradiction(
            time=item.time,
            turn=item.turn,
            session=self._figures.id,
            hook=item.hook[:NAME_LENGTH],
            tool=body.tool[:NAME_LENGTH],
            id=body.id[:NAME_LENGTH],
            about=about,
            reason=to_text(body.reason)[:REASON_LENGTH],
            agent=body.agent[:NAME_LENGTH],
            shown=body.shown[:NAME_LENGTH],
            success=body.success,
        )
        self._figures.contradictions.add(one)

    def _fail(self, item: RecordedEvent, day: Day) -> None:
        self._add_error(item, item.event, to_text(find_message(item.left.get("error"))))

    def _add_error(self, item: RecordedEvent | Note, what: str, why: str) -> None:
        error = Intervention(
            "failure", item.time, item.turn, "", what[:NAME_LENGTH], reason=why[:REASON_LENGTH]
        )
        self._figures.errors.add(error)

    def finish(self) -> None:
        """Close what the trail does not tell the end of."""
        self._turns.finish()
        self._calls.finish()
