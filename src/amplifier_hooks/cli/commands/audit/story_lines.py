"""The line that a record is worth by itself, whatever came before it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import singledispatch
from typing import TYPE_CHECKING, Any

from amplifier_audit.own_records import (
    CheckpointMade,
    LogBroken,
    LogOpened,
    LogRecovered,
    SegmentRemoved,
    ValueRedacted,
    WriterConnected,
)
from amplifier_audit.record import Record
from amplifier_core.records import (
    AnswerIgnored,
    AnswerShadowed,
    ApprovalCancelled,
    ApprovalDecided,
    ApprovalHandedOver,
    ApprovalKept,
    ApprovalOutcome,
    ApprovalRemembered,
    ApprovalRequested,
    ApprovalsForgotten,
    ApprovalShown,
    ConfigurationChanged,
    Decision,
    DenialContradicted,
    DigestMismatch,
    DispatchRecorded,
    ErrorNoted,
    HookFinished,
    HookStarted,
    InjectionAccepted,
    InjectionDropped,
    InjectionUnused,
    Other,
    OutputShown,
    OutputSuppressed,
    Registration,
    SessionEnded,
    SessionSuspended,
    Text,
    UserMessage,
)
from amplifier_hooks.cli.display.narration import (
    UNEXPLAINED,
    describe_event,
    format_duration,
    summarize_call,
)
from amplifier_hooks.cli.text.fragments import Line
from amplifier_hooks.cli.text.output import explain_how
from amplifier_hooks.text.escape import escape, get_first_line, make_readable
from amplifier_hooks.trails.bodies import GuardAlarm, read_body

if TYPE_CHECKING:
    from amplifier_audit import Record

MISSING = "(missing, no record of a redaction)"
KEPT_APART = "(stored separately; --reveal shows it)"
_LONGEST = 400
_STREAMS = ("stdout", "stderr")
_TEXTS = ("textResultForLlm", "text_result_for_llm", "llmContent", "file", "content", "filePath")
_DECISIVE = ("action", "decision", "reason")


_ORIGINS = {
    "user": "your words",
    "own": "your records",
    "covered": "a text that you pointed at",
    "sender": "whoever wrote",
    "text": "a text",
    "none": "nowhere",
}
_MOST_ORIGINS = 6


def describe_origins(data: Data) -> Line:
    """Where the values of a call come from, each argument once."""
    values = data.get("values")
    told: dict[str, None] = {}
    for value in values if isinstance(values, list) else ():
        one = read_map(value)
        place = " → ".join(filter(None, (read_text(one.get(key)) for key in ("tool", "field"))))
        words = _ORIGINS.get(read_text(one.get("label")), "?")
        where = f"{words} ({escape(place)})" if place else words
        told[f"{escape(read_text(one.get('argument'))) or 'input'} from {where}"] = None
    kept = list(told)[:_MOST_ORIGINS]
    more = [f"{len(told) - len(kept)} more"] if len(told) > len(kept) else []
    return (("dim", f"  origins: {'; '.join([*kept, *more])}"),)


def read_time(record: Record) -> datetime | None:
    """When, on the clock of whoever reads; None if that is not a time."""
    try:
        return datetime.fromisoformat(str(record["time"])).astimezone()
    except (ValueError, OverflowError):
        return None


def read_text(value: Any) -> str:
    """A value of a record as text, as it is; values that were cut or kept apart say so."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, Mapping):
        return _read_marked(value)
    return json.dumps(value)


def _read_marked(value: Mapping[str, Any]) -> str:
    if "$commitment" in value:
        if value.get("missing"):
            return MISSING
        return "(redacted)" if value.get("redacted") else KEPT_APART
    if "$cut" in value and isinstance(head := value.get("head"), str):
        return f"{head}…"
    return json.dumps(value)


def read_result(output: Any) -> str:
    """What a tool said, out of the forms that coding agents give to results; else all of it."""
    if isinstance(output, list) and output and all(isinstance(one, Mapping) for one in output):
        return "\n".join(read_text(one.get("text", one)) for one in output)
    if not isinstance(output, Mapping):
        return read_text(output)
    if "stdout" in output:
        return "\n".join(filter(None, (read_text(output.get(one)) for one in _STREAMS)))
    for key in _TEXTS:
        if key in output:
            return read_result(output[key])
    return read_text(output)


def read_line(value: Any, limit: int = _LONGEST) -> str:
    """The first line of a value, harmless, and a sign if there are more."""
    text = read_text(value).strip()
    first = get_first_line(text, limit)
    more = make_readable(text).count("\n")
    return f"{first} … {more} more line{'s' * (more != 1)}" if more else first


def read_name(value: Any) -> str:
    """A name, on one line."""
    return escape(read_text(value)) or "?"


def read_map(value: Any) -> Mapping[str, Any]:
    """A part of a record that should be an object."""
    return value if isinstance(value, Mapping) else {}


def summarize_record(record: Record) -> str:
    """Who decided what, and why; else the body, on one line."""
    body = record["body"]
    said = read_body(record)
    decision = [f"{name}={read_text(body[name])}" for name in _DECISIVE if name in body]
    hooks = said.hooks if isinstance(said, DispatchRecorded) else ()
    answers = [f"{one.hook}:{one.action}" for one in hooks if one.action != "continue"]
    return get_first_line(" ".join([*decision, *answers]) or json.dumps(body))


Data = Mapping[str, Any]
"""Of an event."""

_SHOWN_BY = {
    "stop": " · no result by the time that the agent stopped",
    "next prompt": " · no result by the next prompt",
    "session end": " · no result by the end of the session",
    "denied": " · it was denied after that",
}
_LEVELS = {"info": ("note", "·"), "warning": ("warn", "!"), "error": ("bad", "✗")}
_SUBJECTS = {
    "tool:pre": "the call",
    "tool:post": "the result",
    "prompt:submit": "the prompt",
    "prompt:answer": "the answer",
    "provider:request": "the request to the model",
}


_TOLD_AS_ON_SCREEN = frozenset(
    {"provider:retry", "provider:error", "agent:spawn", "agent:complete", "context:post_compact"}
)


def describe_alone(record: Record) -> Line | None:
    """What a record says without the others; None if only an auditor wants to see it."""
    return _describe(read_body(record), record)


def describe_denial(hook: Any, event: Any, reason: Any) -> Line:
    """A hook said no."""
    what = "" if event == "tool:pre" else f" ({name_subject(event)})"
    return ("bad", f"✗ denied by {read_name(hook)}{what}: "), ("", read_line(reason) or UNEXPLAINED)


def describe_modification(hook: Any, event: Any) -> Line:
    """A hook changed what it was told of."""
    return ("note", "~ "), ("dim", f"{read_name(hook)} changed {name_subject(event)}")


def describe_unheeded(hook: Any, action: Any) -> Line:
    """A hook answered behind a denial, to no effect."""
    return ("note", "· "), ("dim", f"{read_name(hook)} also said {read_name(action)}")


def describe_failure(
    hook: Any, event: Any, error: Text | None, *, at: Text = "", denied: bool = False
) -> Line:
    """A hook did not come to an answer."""
    where = f" ({read_line(at)})" if at else ""
    then = f"; {name_subject(event)} was denied" if denied else ""
    return ("bad", f"✗ {read_name(hook)} failed on {read_name(event)}: "), (
        "",
        f"{read_line(error or 'it failed')}{where}{then}",
    )


def name_subject(event: Any) -> str:
    """What an event is about, in words."""
    return _SUBJECTS.get(read_text(event)) or read_name(event)


def format_milliseconds(value: Any) -> str:
    """A duration; nothing if it is none."""
    return format_duration(value / 1000) if type(value) in (int, float) and value >= 0 else ""


def get_message(error: Any) -> Any:
    """What an error says, in whichever form it is told."""
    return error.get("message", error) if isinstance(error, dict) else error


def summarize_input(value: Any) -> str:
    """What a call is about, in one line."""
    about = read_map(value)
    if "$commitment" in about:
        return read_text(about)
    return summarize_call({key: read_text(one) for key, one in about.items()})


def describe_as_on_screen(event: str, data: Data) -> list[Line]:
    """The lines of an event that a session shows in the same words."""
    if event not in _TOLD_AS_ON_SCREEN:
        return []
    try:
        return describe_event(event, data)
    except (ValueError, TypeError, AttributeError):
        return [(("dim", f"· {event}"),)]  # a forged record, or one of another version


def describe_handover(body: ApprovalHandedOver, about: str = "") -> Line:
    """Another program asks its person; `about` is the input of the call."""
    return _say_handed_over(body.to, f"{read_name(body.tool)} {about}" if about else "")


def _say_handed_over(to: str, call: str = "") -> Line:
    about = f" · {call}" if call else ""
    return ("question", f"→ handed over to {read_name(to)}, which asks its person"), ("", about)


def describe_outcome(body: ApprovalOutcome, about: str = "") -> Line:
    """What is known of such a question; `about` is the input of the call."""
    tool = read_name(body.tool)
    to = read_name(body.to)
    tool = f"{tool} {about}" if about else tool
    corrected = " · not as recorded before" if body.settles == "not_run" else ""
    if body.state == "allowed":
        return ("allow", f"✓ {tool} was allowed where {to} asked: it ran"), ("", corrected)
    shown = read_line(body.evidence)
    why = _SHOWN_BY.get(shown, f" ({shown})" if shown else "")
    return ("refuse", f"✗ {tool} did not run after {to} was to ask"), ("", why)


# One for each kind of record


@singledispatch
def _describe(body: object, record: Record) -> Line | None:
    """A record of which nothing better is known."""
    return ("dim", "· "), ("dim", read_name(record["type"])), ("", f"  {summarize_record(record)}")


@_describe.register
def _describe_other(body: Other, record: Record) -> Line | None:
    return None if body.type == "interception_recorded" else _describe(None, record)


@_describe.register(LogOpened | CheckpointMade | WriterConnected)
@_describe.register(HookStarted | HookFinished | Registration | OutputSuppressed)
@_describe.register(ApprovalShown | ApprovalKept | ApprovalsForgotten)
def _pass_over(body: object, record: Record) -> Line | None:
    return None


@_describe.register
def _describe_question(body: ApprovalRequested, record: Record) -> Line | None:
    if body.again:
        return None
    return ("question", f"? {read_name(record['hook'])} asks: "), ("", read_line(body.prompt))


@_describe.register
def _describe_handover(body: ApprovalHandedOver, record: Record) -> Line | None:
    return None if body.again else describe_handover(body)


@_describe.register
def _describe_outcome(body: ApprovalOutcome, record: Record) -> Line:
    return describe_outcome(body)


@_describe.register
def _describe_decision(body: Decision, record: Record) -> Line:
    if isinstance(body, ApprovalDecided) and body.handed_over_to:
        return _say_handed_over(body.handed_over_to)
    by = f" by {_name_decider(body.by)}" if body.by else ""
    verb = "✓ allowed" if body.allowed else "✗ refused"
    style = "allow" if body.allowed else "refuse"
    return (style, f"{verb}{by}"), ("", "".join(_list_details(body)))


def _list_details(body: Decision) -> Iterator[str]:
    if body.decision:
        yield f" · {read_line(body.decision)}"
    if body.edited:
        yield " · with another input"
    if reason := explain_how(body.how):
        yield f" · {reason}"
    if body.comment:
        yield f" · “{read_line(body.comment)}”"


def _name_decider(by: str) -> str:
    """A person, or the rule that decided in their place."""
    name = read_name(by)
    return f"the rule {name.removeprefix('rule:')}" if name.startswith("rule:") else name


@_describe.register
def _describe_contradiction(body: DenialContradicted, record: Record) -> Line:
    about = summarize_input(body.input)
    call = " ".join(filter(None, (read_name(body.tool), about)))
    by = f"by {read_name(record['hook'])} " if record["hook"] else ""
    how = "a result" if body.shown != "failure" else "that it failed"
    who = read_name(body.agent)
    return ("bad", f"✗ ran although denied {by}"), ("", f"· {call} · {who} shows {how}")


@_describe.register
def _describe_withdrawal(body: ApprovalCancelled, record: Record) -> Line:
    return (("warn", "✗ the question was withdrawn"),)


@_describe.register
def _describe_remembered(body: ApprovalRemembered, record: Record) -> Line:
    hook = read_name(record["hook"])
    decision = read_line(body.decision)
    if body.by:
        return ("note", "· "), ("", f"{hook} did not ask: by {_name_decider(body.by)}")
    return ("note", "· "), ("", f"{hook} did not ask again: {decision} was said before")


@_describe.register
def _describe_message(body: UserMessage, record: Record) -> Line:
    return _show_message(record, body.text, *_LEVELS.get(body.level, _LEVELS["info"]))


@_describe.register
def _describe_output(body: OutputShown, record: Record) -> Line:
    return _show_message(record, body.text, *_LEVELS["info"])


def _show_message(record: Record, text: Text, style: str, sign: str) -> Line:
    hook = f"{read_name(record['hook'])}: " if record["hook"] else ""
    return (style, f"{sign} "), ("dim", hook), ("", read_line(text))


@_describe.register
def _describe_injection(body: InjectionAccepted, record: Record) -> Line:
    hook = read_name(record["hook"])
    return ("note", "+ "), ("dim", f"{hook} tells the agent: "), ("", read_line(body.text))


@_describe.register
def _describe_drop(body: InjectionDropped, record: Record) -> Line:
    said = f"! {read_name(record['hook'])} could not tell the agent: "
    return ("warn", said), ("", read_line(body.why))


@_describe.register
def _describe_unused(body: InjectionUnused, record: Record) -> Line:
    style, mark = ("warn", "!") if body.fault else ("dim", "·")
    said = f"{mark} the agent was not told what {read_name(record['hook'])} said: "
    return (style, said), ("", read_line(body.why))


@_describe.register
def _describe_change(body: ConfigurationChanged, record: Record) -> Line:
    what = read_name(body.what)
    if body.refused:
        why = "" if body.refused is True else f": {read_line(body.refused)}"
        return (("warn", f"! a change of the {what} was refused{why}"),)
    parts = [
        f"{word} {', '.join(map(read_name, found))}"
        for word, found in (("now used:", body.mounted), ("removed:", body.unmounted))
        if found
    ]
    return ("note", f"· the {what} was reloaded"), ("", f"  {'; '.join(parts)}" if parts else "")


@_describe.register
def _describe_shadowed(body: AnswerShadowed, record: Record) -> Line:
    return ("warn", f"! shadow: {read_name(record['hook'])} "), ("", read_line(body.would))


@_describe.register
def _describe_ignored(body: AnswerIgnored, record: Record) -> Line:
    said = f"! {read_name(record['hook'])}: '{read_name(body.action)}' had no effect: "
    return ("warn", said), ("", read_line(body.why))


@_describe.register
def _describe_alarm(body: GuardAlarm, record: Record) -> Line:
    said = "; ".join(read_line(one) for one in body.found)
    return ("bad", f"✗ the guard ({read_name(body.kind)}): "), ("", said)


@_describe.register
def _describe_error(body: ErrorNoted, record: Record) -> Line:
    what = f" ({read_name(body.what)})" if body.what else ""
    return ("bad", f"✗ error{what}: "), ("", read_line(body.error or body.why))


@_describe.register
def _describe_end(body: SessionEnded, record: Record) -> Line:
    stats = body.stats
    counted = [
        f"{stats[key]:,} {word}{'s' * (stats[key] != 1)}"
        for key, word in (
            ("tool_invocations", "tool call"),
            ("total_tokens", "token"),
            ("hook_failures", "hook failure"),
            ("injections_unused", "lost text"),
        )
        if type(stats.get(key)) is int and stats[key] > 0
    ]
    reason = read_name(body.reason)
    ending = "" if reason == "complete" else f" ({reason})"
    return ("dim", f"· session ended{ending}"), ("dim", "".join(f" · {one}" for one in counted))


@_describe.register
def _describe_mismatch(body: DigestMismatch, record: Record) -> Line:
    return (("bad", "✗ what would have run is not what was approved"),)


@_describe.register
def _describe_redaction(body: ValueRedacted, record: Record) -> Line:
    said = f"· {read_name(body.by)} redacted a value: "
    return (("warn", said), ("", read_line(body.reason)))


@_describe.register
def _describe_suspension(body: SessionSuspended, record: Record) -> Line:
    return (("dim", "· session suspended: another process can go on with it"),)


@_describe.register
def _describe_recovery(body: LogRecovered, record: Record) -> Line:
    return (("warn", "! the trail was recovered after a crash"),)


@_describe.register
def _describe_damage(body: LogBroken, record: Record) -> Line:
    return (("bad", "! the trail before this point is damaged"),)


@_describe.register
def _describe_removal(body: SegmentRemoved, record: Record) -> Line:
    return (("warn", "! the oldest records were removed"),)
