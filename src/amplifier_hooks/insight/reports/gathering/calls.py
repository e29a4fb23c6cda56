"""Puts the records of a call together: what was wanted, what hooks said, what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_hooks.guards.policy.tool_calls import EDITING_TOOLS
from amplifier_hooks.insight.reports.figures.day import Day
from amplifier_hooks.insight.reports.figures.excerpt import (
    cut_value,
    find_message,
    summarize,
    to_text,
)
from amplifier_hooks.insight.reports.figures.kept import Open, count_named
from amplifier_hooks.insight.reports.figures.moment import go_back
from amplifier_hooks.insight.reports.figures.session import (
    MOST_NAMES,
    MOST_OPEN,
    NAME_LENGTH,
    REASON_LENGTH,
    SessionFigures,
)
from amplifier_hooks.insight.reports.figures.step import Call, Outcome
from amplifier_hooks.insight.reports.gathering.turns import Turns
from amplifier_hooks.trails import RecordedApproval, RecordedCall, RecordedEvent

Key = tuple[str, str]

_UNDECIDED = ("not started", "unknown", "not run")


class Calls:
    """The calls of tools of a session and of its sub-agents."""

    def __init__(self, figures: SessionFigures, turns: Turns) -> None:
        self._figures = figures
        self._turns = turns
        self._calls: Open[Key, Call] = Open(MOST_OPEN)
        self._started: Open[Key, str] = Open(MOST_OPEN)
        self._asked: Open[Key, Key] = Open(MOST_OPEN)
        self._denied: Open[Key, Call] = Open(MOST_OPEN)
        self._has_file_events = False

    # Events

    def begin(self, item: RecordedEvent, day: Day) -> None:
        """A tool is to be called, if hooks let it."""
        key = _get_key(item)
        call = self._calls.get(key)
        if call is None or not (item.again or call.outcome == "unknown"):
            call = self._add(item, to_text(item.left.get("tool_name")), key, day)
        given = item.left.get("tool_input")
        call.input, call.about = cut_value(given), summarize(given)
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
        self._count_file("read", to_text(item.left.get("path")))

    def write_file(self, item: RecordedEvent, day: Day) -> None:
        """A tool has written a file."""
        self._has_file_events = True
        self._count_file("written", to_text(item.left.get("path")))

    # Records

    def take(self, item: RecordedCall, day: Day) -> None:
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
        began = self._started.pop(key, None) or go_back(item.time, item.ms)
        self._figures.running.add(began, item.time)
        self._note_file(call)

    def take_approval(self, item: RecordedApproval) -> None:
        """A call that nobody allowed does not run."""
        question = (item.session, f"{item.hook} {item.digest}")
        if item.stage == "requested":
            self._asked[question] = (item.session, item.call_id or item.tool)
            return
        if item.stage in ("handed_over", "outcome"):
            self._asked.pop(question, None)
            self._take_handover(item)
            return
        key = self._asked.pop(question, None)
        if key is None or item.allowed or item.stage == "remembered":
            return
        call = self._calls.get(key)
        if call is not None and call.outcome == "not started":
            call.by, call.reason = item.by, item.comment[:REASON_LENGTH] or item.how
            self._close(key, call, "refused")

    def _take_handover(self, item: RecordedApproval) -> None:
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
    call_id, tool = item.left.get("tool_call_id"), item.left.get("tool_name")
    return item.session, to_text(call_id) or to_text(tool)


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
