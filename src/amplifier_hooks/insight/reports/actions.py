"""Actions of the agent, from whichever records have them: turns, calls, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amplifier_audit.own_records import LogBroken, LogOpened
from amplifier_core.events import canonical, spellings
from amplifier_core.records import (
    DenialContradicted,
    ErrorNoted,
    SessionEnded,
    SessionStarted,
    SessionSuspended,
)
from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from amplifier_hooks.insight.reports.excerpts import (
    PendingItems,
    count_named,
    cut_text,
    cut_value,
    find_message,
    format_value,
    join_blocks,
    subtract_milliseconds,
    summarize,
)
from amplifier_hooks.insight.reports.model import (
    MOST_NAMES,
    MOST_OPEN,
    NAME_LENGTH,
    REASON_LENGTH,
    AgentText,
    Call,
    Contradiction,
    Day,
    Intervention,
    Outcome,
    SessionFigures,
    Turn,
)
from amplifier_hooks.trails import (
    Item,
    Note,
    RecordedApproval,
    RecordedCall,
    RecordedEvent,
)


class TurnCollector:
    """The turns of a session and of its sub-agents."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._turns: PendingItems[str, Turn] = PendingItems(MOST_OPEN)
        self._requests: PendingItems[str, str] = PendingItems(MOST_OPEN)
        self._names: PendingItems[str, str] = PendingItems(MOST_OPEN)

    def name_agent(self, item: RecordedEvent) -> None:
        """Learn the name of a sub-agent."""
        self._names[format_value(item.data.get("child_id"))] = format_value(
            item.data.get("agent_name")
        )

    def submit(self, item: RecordedEvent, day: Day) -> None:
        """A turn begins."""
        if item.again:
            return
        self._end(item.session)
        turn = self._begin(item)
        turn.prompt = cut_text(format_value(item.left.get("prompt")))
        if item.action == "deny":
            turn.status = "denied"

    def find(self, item: RecordedEvent | RecordedCall) -> Turn:
        """The turn of a record; what happened outside of one gets one without a prompt."""
        turn = self._turns.get(item.session)
        if turn is None or item.turn > turn.number:
            self._end(item.session)
            turn = self._begin(item)
        turn.ended = item.time
        return turn

    def _begin(self, item: RecordedEvent | RecordedCall) -> Turn:
        agent = self._names.get(item.session, "")
        if not agent and item.session != self._figures.header.session:
            agent = "sub-agent"
        turn = Turn(item.session, item.turn, item.time, agent)
        self._turns[turn.session] = turn
        self._figures.turns.add(turn)
        if agent:
            count_named(self._figures.agents, agent, MOST_NAMES)
        return turn

    def _end(self, session: str) -> None:
        turn = self._turns.pop(session, None)
        if turn is not None and not turn.agent:
            self._figures.working.add(turn.started, turn.ended or turn.started)

    def answer(self, item: RecordedEvent, day: Day) -> None:
        """The answer, as it was handed over."""
        turn = self.find(item)
        if item.action == "deny" and item.event == "prompt:answer":
            turn.status = "withheld"
        if text := join_blocks(item.left.get("response")):
            turn.answer = cut_text(text)

    def conclude(self, item: RecordedEvent, day: Day) -> None:
        """The loop has ended, with a message and a status."""
        turn = self.find(item)
        status = format_value(item.left.get("status"))
        if status and status != "success":
            turn.status = status[:NAME_LENGTH]
        message = item.left.get("final_message")
        if isinstance(message, Mapping) and (text := join_blocks(message.get("content"))):
            turn.answer = cut_text(text)

    def request(self, item: RecordedEvent, day: Day) -> None:
        """A model is asked."""
        self._requests[item.session] = item.time

    def respond(self, item: RecordedEvent, day: Day) -> None:
        """A model has replied."""
        if item.again:
            return
        if started := self._requests.pop(item.session, ""):
            self._figures.thinking.add(started, item.time)
        turn = self.find(item)
        data = item.left
        model = format_value(data.get("model") or data.get("provider"))[:NAME_LENGTH]
        if usage := _find_usage(data):
            spent = self._figures.spending.add_usage(model, usage)
            turn.tokens += spent.tokens
            day.tokens += spent.tokens
            if not spent.unpriced:
                turn.money = (turn.money or 0.0) + spent.money
        if text := join_blocks(data.get("response")).strip():
            turn.steps.add(AgentText(item.time, cut_text(text)))

    def finish(self) -> None:
        """End the turns whose end the trail does not tell."""
        for session in [*self._turns]:
            self._end(session)


def _find_usage(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The usage of the event, or of the response inside it."""
    response = data.get("response")
    inner = response.get("usage") if isinstance(response, Mapping) else None
    usage = data.get("usage") or inner
    return usage if isinstance(usage, Mapping) and "$commitment" not in usage else {}


Key = tuple[str, str]

_UNDECIDED = ("not started", "unknown", "not run")


class CallCollector:
    """The calls of tools of a session and of its sub-agents."""

    def __init__(self, figures: SessionFigures, turns: TurnCollector) -> None:
        self._figures = figures
        self._turns = turns
        self._calls: PendingItems[Key, Call] = PendingItems(MOST_OPEN)
        self._started: PendingItems[Key, str] = PendingItems(MOST_OPEN)
        self._asked: PendingItems[Key, Key] = PendingItems(MOST_OPEN)
        self._denied: PendingItems[Key, Call] = PendingItems(MOST_OPEN)
        self._has_file_events = False

    # Events

    def begin(self, item: RecordedEvent, day: Day) -> None:
        """A tool is to be called, if hooks let it."""
        key = _get_key(item)
        call = self._calls.get(key)
        if call is None or not (item.again or call.outcome == "unknown"):
            call = self._add(item, format_value(item.left.get("tool_name")), key, day)
        given = item.left.get("tool_input")
        call.input = cut_value(given)
        call.about = summarize(given)
        call.is_command = isinstance(given, Mapping) and "command" in given
        call.changed |= any(one.action == "modify" for one in item.answers)
        if item.action == "deny":
            call.by = next((one.hook for one in item.answers if one.action == "deny"), "")
            call.reason = item.reason[:REASON_LENGTH]
            self._close(key, call, "denied")
            self._denied[key] = call

    def end(self, item: RecordedEvent, day: Day) -> None:
        """A tool has returned."""
        key = _get_key(item)
        call = self._calls.pop(key, None)
        if call is None:
            return
        call.result = cut_value(_find_output(item.left.get("tool_result")))
        call.changed |= any(one.action == "modify" for one in item.answers)
        if call.outcome in ("not started", "running"):
            self._set_outcome(call, "failed" if item.left.get("success") is False else "done")

    def fail(self, item: RecordedEvent, day: Day) -> None:
        """A tool has raised."""
        key = _get_key(item)
        call = self._calls.get(key)
        if call is not None:
            call.result = cut_value(find_message(item.left.get("error")))
            self._close(key, call, "failed")

    def read_file(self, item: RecordedEvent, day: Day) -> None:
        """A tool has read a file."""
        self._has_file_events = True
        self._count_file("read", format_value(item.left.get("path")))

    def write_file(self, item: RecordedEvent, day: Day) -> None:
        """A tool has written a file."""
        self._has_file_events = True
        self._count_file("written", format_value(item.left.get("path")))

    # Records

    def add_record(self, item: RecordedCall, day: Day) -> None:
        """Take the start or the end of a call, as the kernel recorded it."""
        key = (item.session, item.call_id or item.tool)
        call = self._calls.get(key) or self._add(item, item.tool, key, day)
        call.gated |= item.gated
        if item.stage == "started":
            self._set_outcome(call, "running")
            self._started[key] = item.time
            self._note_command(call)
            return
        if key not in self._started:  # another program ran it, and told only how it ended
            self._note_command(call)
        call.ms = item.ms
        self._set_outcome(call, _name_outcome(item))
        began = self._started.pop(key, None) or subtract_milliseconds(item.time, item.ms)
        self._figures.running.add(began, item.time)
        self._note_file(call)

    def add_approval(self, item: RecordedApproval) -> None:
        """A call that nobody allowed does not run."""
        question = (item.session, f"{item.hook} {item.digest}")
        if item.stage == "requested":
            self._asked[question] = (item.session, item.call_id or item.tool)
            return
        if item.stage in ("handed_over", "outcome"):
            self._asked.pop(question, None)
            self._add_handover(item)
            return
        key = self._asked.pop(question, None)
        if key is None or item.allowed or item.stage == "remembered":
            return
        call = self._calls.get(key)
        if call is not None and call.outcome == "not started":
            call.by = item.by
            call.reason = item.comment[:REASON_LENGTH] or item.how
            self._close(key, call, "refused")

    def _add_handover(self, item: RecordedApproval) -> None:
        """Of a call that another program asks about, only what is shown is known."""
        call = self._calls.get((item.session, item.call_id.split(":", 1)[0] or item.tool))
        if call is None or call.outcome not in _UNDECIDED:
            return
        if item.state == "allowed":
            call.gated = True
        self._set_outcome(call, "not run" if item.state == "not_run" else "unknown")

    def contradict(self, session: str, call_id: str) -> Call | None:
        """A denied call whose result the agent shows; what came of it is told by its result."""
        key = (session, call_id)
        call = self._denied.pop(key, None)
        if call is not None:
            call.contradicted = True
            self._calls[key] = call
        return call

    def finish(self) -> None:
        """Nobody knows what became of a call that was started and never ended."""
        for call in self._calls.values():
            if call.outcome == "running":
                self._set_outcome(call, "unknown")

    # Calls

    def _add(self, item: RecordedEvent | RecordedCall, tool: str, key: Key, day: Day) -> Call:
        call = Call(item.time, tool[:NAME_LENGTH], key[1][:NAME_LENGTH])
        turn = self._turns.find(item)
        turn.steps.add(call)
        turn.calls += 1
        day.calls += 1
        count_named(self._figures.tools, call.tool, MOST_NAMES)
        self._figures.calls[call.outcome] += 1
        self._calls[key] = call
        return call

    def _close(self, key: Key, call: Call, outcome: Outcome) -> None:
        self._set_outcome(call, outcome)
        self._calls.pop(key, None)

    def _set_outcome(self, call: Call, outcome: Outcome) -> None:
        self._figures.calls[call.outcome] -= 1
        self._figures.calls[outcome] += 1
        call.outcome = outcome

    def _note_command(self, call: Call) -> None:
        if call.is_command:
            self._figures.commands.add(call)

    # Files

    def _note_file(self, call: Call) -> None:
        """Agents of others tell of no files; what their tools are called says it."""
        if self._has_file_events or call.outcome != "done" or not call.about:
            return
        if call.tool in EDITING_TOOLS:
            self._count_file("written", call.about)
        elif call.tool == "Read":
            self._count_file("read", call.about)

    def _count_file(self, use: str, path: str) -> None:
        folder = self._figures.header.folder
        name = path.removeprefix(f"{folder}/") if folder else path
        if name:
            files = self._figures.written if use == "written" else self._figures.read
            count_named(files, name[:NAME_LENGTH], MOST_NAMES)


def _get_key(item: RecordedEvent) -> Key:
    call_id = item.left.get("tool_call_id")
    tool = item.left.get("tool_name")
    return item.session, format_value(call_id) or format_value(tool)


def _find_output(result: Any) -> Any:
    if not isinstance(result, Mapping) or "$commitment" in result:
        return result
    return result.get("output") or find_message(result.get("error"))


def _name_outcome(item: RecordedCall) -> Outcome:
    if item.outcome == "unknown":
        return "unknown"
    if item.outcome == "cancelled":
        return "stopped"
    return "done" if item.outcome == "returned" and item.success is not False else "failed"


AddTurnEvent = Callable[[TurnCollector, RecordedEvent, Day], None]
AddCallEvent = Callable[[CallCollector, RecordedEvent, Day], None]

_TURN_EVENTS: Mapping[str, AddTurnEvent] = {
    "prompt:submit": TurnCollector.submit,
    "prompt:answer": TurnCollector.answer,
    "prompt:complete": TurnCollector.answer,
    "orchestrator:complete": TurnCollector.conclude,
    "provider:request": TurnCollector.request,
    "provider:response": TurnCollector.respond,
}
_CALL_EVENTS: Mapping[str, AddCallEvent] = {
    "tool:pre": CallCollector.begin,
    "tool:post": CallCollector.end,
    "tool:error": CallCollector.fail,
    "artifact:read": CallCollector.read_file,
    "artifact:write": CallCollector.write_file,
}
_FAILURES = frozenset({"provider:error", "error:orchestration", "module:load_failed"})
_FORK = "session:fork"

HEARD = frozenset(
    name for event in (*_TURN_EVENTS, *_CALL_EVENTS, *_FAILURES, _FORK) for name in spellings(event)
)
"""The events whose data tell what the agent did."""


class ActionCollector:
    """Hands each record to those who put turns and calls together."""

    def __init__(self, figures: SessionFigures) -> None:
        self._figures = figures
        self._turns = TurnCollector(figures)
        self._calls = CallCollector(figures, self._turns)

    def note_agents(self, item: Item) -> None:
        """Learn the names of sub-agents, also from what is outside the period."""
        if isinstance(item, RecordedEvent) and item.event == _FORK:
            self._turns.name_agent(item)

    def add_event(self, item: RecordedEvent, day: Day) -> None:
        """Take what an event tells of the agent."""
        self.note_agents(item)
        event = canonical(item.event)
        if event in _TURN_EVENTS:
            _TURN_EVENTS[event](self._turns, item, day)
        elif event in _CALL_EVENTS:
            _CALL_EVENTS[event](self._calls, item, day)
        elif event in _FAILURES:
            self._fail(item)

    def add_call(self, item: RecordedCall, day: Day) -> None:
        """Take the start or the end of a call."""
        self._calls.add_record(item, day)

    def add_approval(self, item: RecordedApproval) -> None:
        """Take what became of a call that somebody was asked about."""
        self._calls.add_approval(item)

    def add_note(self, item: Note) -> None:
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
                self._add_error(item, what or "error", format_value(error or why))
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
            reason=format_value(body.reason)[:REASON_LENGTH],
            agent=body.agent[:NAME_LENGTH],
            shown=body.shown[:NAME_LENGTH],
            success=body.success,
        )
        self._figures.contradictions.add(one)

    def _fail(self, item: RecordedEvent) -> None:
        self._add_error(item, item.event, format_value(find_message(item.left.get("error"))))

    def _add_error(self, item: RecordedEvent | Note, what: str, why: str) -> None:
        error = Intervention(
            "failure", item.time, item.turn, "", what[:NAME_LENGTH], reason=why[:REASON_LENGTH]
        )
        self._figures.errors.add(error)

    def finish(self) -> None:
        """Close what the trail does not tell the end of."""
        self._turns.finish()
        self._calls.finish()
