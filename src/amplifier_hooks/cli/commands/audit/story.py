"""The story of a session, from its trail: a line for each thing that people care about.

Records come in pairs and say things twice, as an auditor wants it. A story says them once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from amplifier_audit.log_directory import parse_or_none
from amplifier_audit.own_records import LogOpened
from amplifier_core.records import (
    ApprovalHandedOver,
    ApprovalOutcome,
    Decision,
    DispatchRecorded,
    HookAnswer,
    HookFailed,
    SessionEnded,
    SessionStarted,
    ToolFinished,
    ToolStarted,
)
from amplifier_hooks.cli.commands.audit.story_lines import (
    Data,
    describe_alone,
    describe_as_on_screen,
    describe_denial,
    describe_failure,
    describe_handover,
    describe_modification,
    describe_origins,
    describe_outcome,
    describe_unheeded,
    format_milliseconds,
    get_message,
    name_subject,
    read_line,
    read_map,
    read_name,
    read_result,
    read_text,
    read_time,
    summarize_input,
    summarize_record,
)
from amplifier_hooks.cli.display.narration import join_blocks
from amplifier_hooks.cli.text.fragments import ELLIPSIS, Line, wrap, wrap_words
from amplifier_hooks.cli.text.output import get_width, is_terminal, print_line
from amplifier_hooks.trails.bodies import Body, BundleLoaded, read_body
from amplifier_hooks.trails.quiet import QuietEvent

if TYPE_CHECKING:
    from amplifier_audit import Record

MOST_ROWS = 3
"""Rows that a line may take on a terminal; its JSON has all of it."""
_NARROWEST = 20
_TYPE_WIDTH = 20
_WIDE = 80


class Page:
    """Prints one line below the other, and a heading when another day begins."""

    def __init__(self) -> None:
        self._day: date | None = None

    def print_entry(self, entry: Entry) -> None:
        """Print one thing that happened."""
        self._begin_day(entry.time)
        clock = f"{entry.time:%H:%M:%S}" if entry.time else "--:--:--"
        _print_fitting(clock, entry.line, MOST_ROWS)

    def print_record(self, record: Record, agent: str = "") -> None:
        """Print one record as an auditor sees it, on one row."""
        time = read_time(record)
        self._begin_day(time)
        clock = f"{time:%H:%M:%S}.{time.microsecond // 1000:03}" if time else "--:--:--.---"
        _print_fitting(clock, _describe_record(record, agent), 1)

    def _begin_day(self, time: datetime | None) -> None:
        if time is not None and time.date() != self._day:
            self._day = time.date()
            print_line(("title", f"{time:%A, %Y-%m-%d}"))


def _describe_record(record: Record, agent: str) -> Line:
    kind = read_name(record["type"])
    if not is_terminal() or get_width() > _WIDE:
        kind = f"{kind:{_TYPE_WIDTH}}"
    names = [agent, *(read_name(record[key]) for key in ("event", "hook") if record[key])]
    about = "  ".join(name for name in names if name)
    return (
        ("dim", f"{record['seq']:>5}  "),
        ("note", f"{kind}  "),
        ("", f"{about}  " if about else ""),
        ("dim", summarize_record(record)),
    )


def _print_fitting(clock: str, line: Line, most: int) -> None:
    """Print a line behind its time; on a terminal in a few rows, the last one cut."""
    before = f"{clock}  "
    room = get_width() - 1 - len(before)
    if not is_terminal() or room < _NARROWEST:
        print_line(("dim", before), *line)
        return
    rows = wrap_words(line, room) if most > 1 else wrap(line, room)
    shown = rows[:most]
    if len(rows) > most:
        shown[-1] = (*wrap(shown[-1], room - 1)[0], ("dim", ELLIPSIS))
    for number, row in enumerate(shown):
        print_line(("dim", before if number == 0 else " " * len(before)), *row)


Key = tuple[str, str]

_MOST_UNREAD = 5_000
"""Lines with pieces of text that are kept until somebody wants to know them."""

_MOST_CALLS = 64
"""Calls that are kept in mind until they end; a trail may lack the end of any number."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened."""

    time: datetime | None
    line: Line


Describe = Callable[["Story", "Record", Mapping[str, Any]], Iterator[Line]]


class Story:
    """Takes every record of a trail, in order, and says what each is worth."""

    def __init__(self) -> None:
        self._tells_events = True
        self._place = ""
        self._has_failures = False
        self._agents: dict[str, str] = {}
        self._calls: dict[Key, str] = {}
        self._writing: dict[str, str] = {}
        self._written: dict[str, str] = {}
        self._unread: dict[str, list[bytes]] = {}
        self._unread_count = 0
        self._is_wanted = True
        self._origins: dict[tuple[str, str], Line] = {}
        self._failures: set[tuple[str, str, str]] = set()
        self._denied: set[str] = set()

    def describe(self, record: Record) -> list[Entry]:
        """The lines that a record is worth, which may be none."""
        who = self.name_agent(record)
        prefix: Line = (("tool", f"{who}: "),) if who else ()
        time = read_time(record)
        return [Entry(time, (*prefix, *line)) for line in self._describe(record)]

    def pass_over(self, record: Record) -> None:
        """Learn what a record says that matters to later lines; its own are not wanted."""
        self._is_wanted = False
        for _ in self._describe(record):
            pass
        self._is_wanted = True

    def pass_over_quiet(self, event: QuietEvent, line: bytes) -> bool:
        """The same with an event that all hooks let pass; False if all of it has to be read."""
        name = event.event
        describe = _EVENTS.get(name)
        if event.may_have_gaps and (describe is not None or self._tells_events):
            return False
        if describe is None:
            return True
        if name not in _TEXTS:
            return self._pass_over_data(describe, line)
        # What a model wrote is read when somebody wants to know whether it was told already.
        self._unread.setdefault(event.session, []).append(line)
        self._unread_count += 1
        if self._unread_count > _MOST_UNREAD:
            for session in [*self._unread]:
                self._read_text(session)
        return True

    def _pass_over_data(self, describe: Describe, line: bytes) -> bool:
        """The answers to it say nothing, so only what the event is about has to be parsed."""
        record = parse_or_none(line)
        if record is not None and record["body"].get("judged_again") is not True:
            self._is_wanted = False
            for _ in describe(self, record, record["body"]["data"]):
                pass
            self._is_wanted = True
        return True

    def _read_text(self, session: str) -> None:
        lines = self._unread.pop(session, [])
        self._unread_count -= len(lines)
        for record in filter(None, map(parse_or_none, lines)):
            for _ in self._describe(record):
                pass

    def name_agent(self, record: Record) -> str:
        """Which sub-agent a record is about; empty for the session itself."""
        return self._agents.get(_get_session(record), "")

    def _describe(self, record: Record) -> Iterator[Line]:
        match read_body(record):
            case DispatchRecorded() as body:
                yield from self._describe_event(record, body)
            case HookAnswer() as answer:
                yield from self._describe_answers(record, (answer,))
            case HookFailed() as failure:
                yield from self._describe_failed_hook(record, failure)
            case ToolStarted() | ToolFinished() as call:
                yield from self._describe_call(call)
            case ApprovalHandedOver() | ApprovalOutcome() | Decision() as step:
                yield from self._describe_step(record, step)
            case body:
                yield from self._describe_session(record, body)

    # The session

    def _describe_session(self, record: Record, body: Body) -> Iterator[Line]:
        match body:
            case LogOpened(level=level):
                # With decisions alone, calls are told from what their tools did, not from events.
                self._tells_events = level != "decisions"
            case BundleLoaded(folder=folder, file=file):
                name = read_name(folder)
                bundle = f" with {read_name(file).removeprefix(f'{name}/')}" if file else ""
                self._place = f" in {name}{bundle}"
                self._has_failures = True
            case SessionStarted():
                yield from self._describe_start(record, body)
            case SessionEnded() if self.name_agent(record):
                return
            case _:
                if (line := describe_alone(record)) is not None:
                    yield line

    def _describe_start(self, record: Record, body: SessionStarted) -> Iterator[Line]:
        if body.parent:
            self._agents.setdefault(_get_session(record), "sub-agent")
            return
        yield (("dim", f"· session {'resumed' if body.resumed else 'started'}{self._place}"),)
        if body.shadow:
            yield (("warn", "! shadow mode: hooks were evaluated, and none had an effect"),)

    # Hooks

    def _describe_failed_hook(self, record: Record, body: HookFailed) -> Iterator[Line]:
        about = (_get_session(record), read_text(record["event"]), read_text(record["hook"]))
        self._has_failures = True
        if about not in self._failures:
            hook = record["hook"]
            event = record["event"]
            yield describe_failure(hook, event, body.error, at=body.at, denied=body.denied)
        self._failures.discard(about)

    def _describe_failure(self, record: Record, answer: HookAnswer) -> Iterator[Line]:
        """A failure in an answer, if there is no record of its own: older trails have none."""
        if not self._has_failures:
            event = record["event"]
            self._failures.add((_get_session(record), read_text(event), answer.hook))
            denied = answer.action == "deny"
            yield describe_failure(answer.hook, event, answer.error, denied=denied)

    def _describe_answers(self, record: Record, answers: Iterable[HookAnswer]) -> Iterator[Line]:
        """What the hooks answered; questions and what is told to the agent have own records."""
        for answer in answers:
            if answer.unheeded:
                yield describe_unheeded(answer.hook, answer.action)
            elif answer.error is not None:
                yield from self._describe_failure(record, answer)
            elif answer.action == "deny":
                yield describe_denial(answer.hook, record["event"], answer.reason)
            elif answer.action == "modify":
                yield describe_modification(answer.hook, record["event"])
            if answer.action == "deny" and not answer.unheeded:
                self._denied.add(_get_session(record))

    # Questions

    def _describe_step(
        self, record: Record, body: ApprovalHandedOver | ApprovalOutcome | Decision
    ) -> Iterator[Line]:
        # Several may be asked at once, so each line names its call.
        about = self._calls.get((_get_session(record), body.id or ""), "")
        if isinstance(body, ApprovalOutcome):
            yield describe_outcome(body, about)
        elif isinstance(body, Decision):
            if not body.allowed:
                self._denied.add(_get_session(record))
            if (line := describe_alone(record)) is not None:
                yield line
        elif not body.again:
            yield describe_handover(body, about)

    # Events

    def _describe_event(self, record: Record, body: DispatchRecorded) -> Iterator[Line]:
        event = read_text(record["event"])
        data = body.data or {}
        describe = _EVENTS.get(event)
        if "$commitment" in data:
            yield from self._describe_committed(event, data)
        elif describe is not None and not body.judged_again:
            yield from describe(self, record, data)
        else:
            yield from describe_as_on_screen(event, data)
        yield from self._describe_answers(record, body.hooks)

    def _describe_committed(self, event: str, data: Data) -> Iterator[Line]:
        """Calls are told from what their tools did; of the rest, only that there was a prompt."""
        self._tells_events = False
        if event == "prompt:submit":
            yield ("prompt", "› "), ("dim", read_text(data))

    def _on_prompt(self, record: Record, data: Data) -> Iterator[Line]:
        self._denied.discard(_get_session(record))
        if not self._is_wanted:
            return
        yield ("prompt", "› "), ("title", read_line(data.get("prompt")))

    def _on_call(self, record: Record, data: Data) -> Iterator[Line]:
        self._denied.discard(_get_session(record))
        name = read_name(data.get("tool_name"))
        about = summarize_input(data.get("tool_input"))
        self._calls[_get_key(record, data.get("tool_call_id"))] = about
        if len(self._calls) > _MOST_CALLS:
            del self._calls[next(iter(self._calls))]
        yield ("tool", f"● {name}"), ("", f"  {about}" if about else "")
        if origins := self._origins.pop(_get_key(record, data.get("tool_call_id")), None):
            yield origins

    def _on_origins(self, record: Record, data: Data) -> Iterator[Line]:
        """Recorded before the event of the call whose hook judged it, and told behind that."""
        if len(self._origins) > _MOST_CALLS:
            self._origins.clear()
        self._origins[_get_key(record, data.get("tool_call_id"))] = describe_origins(data)
        yield from ()

    def _on_result(self, record: Record, data: Data) -> Iterator[Line]:
        name = self._name_call(record, data.get("tool_name"), data.get("tool_call_id"))
        if not self._is_wanted:
            return
        result = read_map(data.get("tool_result"))
        took = format_milliseconds(data.get("duration_ms"))
        if data.get("success") is False:
            error = result.get("error") or result.get("output")
            yield ("bad", f"✗ {name}  "), ("", read_line(get_message(error)))
            return
        output = result["output"] if "output" in result else data.get("tool_result")
        text = read_line(read_result(output))
        yield ("good", f"✓ {name}"), ("", f"  {text}" if text else ""), ("dim", f"  {took}")

    def _on_tool_error(self, record: Record, data: Data) -> Iterator[Line]:
        name = self._name_call(record, data.get("tool_name"), data.get("tool_call_id"))
        yield ("bad", f"✗ {name}  "), ("", read_line(get_message(data.get("error"))))

    def _name_call(self, record: Record, tool: Any, call: Any) -> str:
        """The tool; with its input where others run at the same time."""
        several = sum(key[0] == _get_session(record) for key in self._calls) > 1
        about = self._calls.pop(_get_key(record, call), "")
        return f"{read_name(tool)} {about}" if several and about else read_name(tool)

    def _on_request(self, record: Record, data: Data) -> Iterator[Line]:
        """A model is asked again when all calls have ended, the denied ones too."""
        session = _get_session(record)
        self._calls = {key: about for key, about in self._calls.items() if key[0] != session}
        yield from ()

    def _on_violation(self, record: Record, data: Data) -> Iterator[Line]:
        """A denial that nothing else has told of."""
        session = _get_session(record)
        if session not in self._denied:
            yield describe_denial(data.get("hook"), data.get("event"), data.get("reason"))
        self._denied.discard(session)

    def _on_text(self, record: Record, data: Data) -> Iterator[Line]:
        session = _get_session(record)
        self._read_text(session)
        self._writing[session] = self._writing.get(session, "") + read_text(data.get("delta"))
        yield from ()

    def _on_text_end(self, record: Record, data: Data) -> Iterator[Line]:
        session = _get_session(record)
        self._read_text(session)
        if text := self._writing.pop(session, "").strip():
            self._written[session] = text
            yield ("note", "‹ "), ("", read_line(text))

    def _on_turn_end(self, record: Record, data: Data) -> Iterator[Line]:
        session = _get_session(record)
        if self._is_wanted:
            self._read_text(session)
        self._unread_count -= len(self._unread.pop(session, []))
        self._writing.pop(session, None)  # of a reply that was interrupted
        written = self._written.pop(session, "")
        if not self._is_wanted:
            return
        content = read_map(data.get("final_message")).get("content")
        text = (join_blocks(content) or read_text(content)).strip()
        if text and text != written:
            yield ("note", "‹ "), ("", read_line(text))
        if data.get("status") not in (None, "success"):
            yield (("warn", f"! the turn ended early: {read_name(data.get('status'))}"),)

    def _on_cancel(self, record: Record, data: Data) -> Iterator[Line]:
        yield (("warn", f"! stop requested{', at once' * (data.get('immediate') is True)}"),)

    def _on_fork(self, record: Record, data: Data) -> Iterator[Line]:
        self._agents[read_text(data.get("child_id"))] = read_name(data.get("agent_name"))
        yield from ()

    def _on_error(self, record: Record, data: Data) -> Iterator[Line]:
        text = read_line(get_message(data.get("error")))
        yield ("bad", f"✗ {name_subject(record['event'])}: "), ("", text)

    # Tools, where events are not recorded

    def _describe_call(self, body: ToolStarted | ToolFinished) -> Iterator[Line]:
        name = read_name(body.tool)
        if isinstance(body, ToolFinished):
            yield from self._describe_end(name, body)
        elif not self._tells_events:
            yield (("tool", f"● {name}"),)

    def _describe_end(self, name: str, body: ToolFinished) -> Iterator[Line]:
        if body.outcome == "unknown":
            yield (("warn", f"! {name}: how it ended is not known"),)
        elif body.outcome == "cancelled":
            yield (("warn", f"✗ {name} was stopped"),)
        elif not self._tells_events:
            good = body.outcome == "returned" and body.success is not False
            style, sign = ("good", "✓") if good else ("bad", "✗")
            yield (style, f"{sign} {name}"), ("dim", f"  {format_milliseconds(body.ms)}")


def _get_session(record: Record) -> str:
    return read_text(record["session"])


def _get_key(record: Record, call: Any) -> Key:
    return _get_session(record), read_text(call)


_TEXTS = frozenset({"content_block:delta", "content_block:end"})
_EVENTS: dict[str, Describe] = {
    "prompt:submit": Story._on_prompt,
    "provider:request": Story._on_request,
    "tool:pre": Story._on_call,
    "provenance:judged": Story._on_origins,
    "tool:post": Story._on_result,
    "tool:error": Story._on_tool_error,
    "policy:violation": Story._on_violation,
    "content_block:delta": Story._on_text,
    "content_block:end": Story._on_text_end,
    "orchestrator:complete": Story._on_turn_end,
    "cancel:requested": Story._on_cancel,
    "session:fork": Story._on_fork,
    "error:orchestration": Story._on_error,
}
