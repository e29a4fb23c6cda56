"""The line that a record is worth by itself, whatever came before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from amplifier_core.models.record_bodies import OLDER_HANDOVER
from amplifier_hooks.cli.commands.audit.record_text import (
    read_line,
    read_map,
    read_name,
    read_text,
    summarize_record,
)
from amplifier_hooks.cli.display.narration import UNEXPLAINED, describe_event, summarize_call
from amplifier_hooks.cli.display.run_state import format_duration
from amplifier_hooks.cli.text.fragments import Line
from amplifier_hooks.cli.text.words import explain_how

if TYPE_CHECKING:
    from amplifier_audit import Record

Body = Mapping[str, Any]

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
    kind = record["type"]
    if kind in _QUIET or (kind in _TOLD_ONCE and record["body"].get("again") is True):
        return None
    describe = _DESCRIBERS.get(kind)
    if describe is not None:
        return describe(record)
    return ("dim", "· "), ("dim", read_name(kind)), ("", f"  {summarize_record(record)}")


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


def describe_failure(hook: Any, event: Any, body: Body) -> Line:
    """A hook did not come to an answer."""
    error = read_line(body.get("error") or body.get("text") or "it failed")
    where = f" ({read_line(body['at'])})" if body.get("at") else ""
    denied = body.get("action") == "deny" or body.get("denied") is True
    then = f"; {name_subject(event)} was denied" if denied else ""
    return ("bad", f"✗ {read_name(hook)} failed on {read_name(event)}: "), (
        "",
        f"{error}{where}{then}",
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


def describe_as_on_screen(event: str, data: Body) -> list[Line]:
    """The lines of an event that a session shows in the same words."""
    if event not in _TOLD_AS_ON_SCREEN:
        return []
    try:
        return describe_event(event, data)
    except (ValueError, TypeError, AttributeError):
        return [(("dim", f"· {event}"),)]  # a forged record, or one of another version


def _describe_question(record: Record) -> Line:
    return ("question", f"? {read_name(record['hook'])} asks: "), (
        "",
        read_line(record["body"].get("prompt")),
    )


def _describe_decision(record: Record) -> Line:
    body = record["body"]
    handed = read_name(body.get("by")).partition(OLDER_HANDOVER)
    if handed[1] and not handed[0]:  # in older trails, whatever they say of allowed
        return _say_handed_over(handed[2])
    allowed = body.get("allowed") is True
    by = f" by {_name_decider(body['by'])}" if body.get("by") else ""
    reason = explain_how(body.get("how"))
    option = f" · {read_line(body['decision'])}" if body.get("decision") else ""
    said = f" · “{read_line(body['comment'])}”" if body.get("comment") else ""
    edited = " · with another input" if body.get("edited") is True else ""
    why = f" · {reason}" if reason else ""
    verb = "✓ allowed" if allowed else "✗ refused"
    style = "allow" if allowed else "refuse"
    return (style, f"{verb}{by}"), ("", f"{option}{edited}{why}{said}")


def describe_handover(record: Record, about: str = "") -> Line:
    """Another program asks its person; `about` is the input of the call."""
    call = f"{read_name(record['body'].get('tool'))} {about}" if about else ""
    return _say_handed_over(read_name(record["body"].get("to")), call)


def _say_handed_over(to: str, call: str = "") -> Line:
    about = f" · {call}" if call else ""
    return ("question", f"→ handed over to {to}, which asks its person"), ("", about)


def describe_outcome(record: Record, about: str = "") -> Line:
    """What is known of such a question; `about` is the input of the call."""
    body = record["body"]
    tool, to = read_name(body.get("tool")) or "it", read_name(body.get("to"))
    tool = f"{tool} {about}" if about else tool
    corrected = " · not as recorded before" if body.get("settles") == "not_run" else ""
    if body.get("state") == "allowed":
        return ("allow", f"✓ {tool} was allowed where {to} asked: it ran"), ("", corrected)
    shown = read_line(body.get("evidence"))
    why = _SHOWN_BY.get(shown, f" ({shown})" if shown else "")
    return ("refuse", f"✗ {tool} did not run after {to} was to ask"), ("", why)


def _describe_contradiction(record: Record) -> Line:
    body, hook = record["body"], read_name(record["hook"])
    about = summarize_input(body.get("input"))
    call = " ".join(filter(None, (read_name(body.get("tool")), about)))
    by = f"by {hook} " if hook else ""
    how = "a result" if body.get("shown") != "failure" else "that it failed"
    who = read_name(body.get("agent")) or "the agent"
    return ("bad", f"✗ ran although denied {by}"), ("", f"· {call} · {who} shows {how}")


def _name_decider(by: Any) -> str:
    """A person, or the rule that decided in their place."""
    name = read_name(by)
    return f"the rule {name.removeprefix('rule:')}" if name.startswith("rule:") else name


def _describe_remembered(record: Record) -> Line:
    hook = read_name(record["hook"])
    decision = read_line(record["body"].get("decision"))
    return ("note", "· "), ("", f"{hook} did not ask again: {decision} was said before")


def _describe_message(record: Record) -> Line:
    style, sign = _LEVELS.get(read_text(record["body"].get("level")), _LEVELS["info"])
    hook = f"{read_name(record['hook'])}: " if record["hook"] else ""
    return (style, f"{sign} "), ("dim", hook), ("", read_line(record["body"].get("text")))


def _describe_injection(record: Record) -> Line:
    hook, text = read_name(record["hook"]), read_line(record["body"].get("text"))
    return ("note", "+ "), ("dim", f"{hook} tells the agent: "), ("", text)


def _describe_drop(record: Record) -> Line:
    return ("warn", f"! {read_name(record['hook'])} could not tell the agent: "), (
        "",
        read_line(record["body"].get("why")),
    )


def _describe_unused(record: Record) -> Line:
    style, mark = ("warn", "!") if record["body"].get("fault") else ("dim", "·")
    return (style, f"{mark} the agent was not told what {read_name(record['hook'])} said: "), (
        "",
        read_line(record["body"].get("why")),
    )


def _describe_change(record: Record) -> Line:
    body = record["body"]
    what = read_name(body.get("what"))
    if refused := body.get("refused"):
        why = "" if refused is True else f": {read_line(refused)}"
        return (("warn", f"! a change of the {what} was refused{why}"),)
    parts = [
        f"{word} {', '.join(map(read_name, found))}"
        for word, found in (("now used:", body.get("mounted")), ("removed:", body.get("unmounted")))
        if isinstance(found, list) and found
    ]
    return ("note", f"· the {what} was reloaded"), ("", f"  {'; '.join(parts)}" if parts else "")


def _describe_shadowed(record: Record) -> Line:
    hook, would = read_name(record["hook"]), read_line(record["body"].get("would"))
    return ("warn", f"! shadow: {hook} "), ("", would)


def _describe_ignored(record: Record) -> Line:
    hook, body = read_name(record["hook"]), record["body"]
    said = f"! {hook}: '{read_name(body.get('action'))}' had no effect: "
    return ("warn", said), ("", read_line(body.get("why")))


def _describe_alarm(record: Record) -> Line:
    body = record["body"]
    found = body.get("found")
    listed = found if isinstance(found, list) else [found]
    said = "; ".join(read_line(one) for one in listed)
    return ("bad", f"✗ the guard ({read_name(body.get('kind'))}): "), ("", said)


def _describe_error(record: Record) -> Line:
    body = record["body"]
    what = f" ({read_name(body['what'])})" if body.get("what") else ""
    return ("bad", f"✗ error{what}: "), ("", read_line(body.get("error") or body.get("why")))


def _describe_end(record: Record) -> Line:
    stats = read_map(record["body"].get("stats"))
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
    reason = read_name(record["body"].get("reason"))
    ending = "" if reason == "complete" else f" ({reason})"
    return ("dim", f"· session ended{ending}"), ("dim", "".join(f" · {one}" for one in counted))


def _describe_own(text: str, style: str = "warn") -> Callable[[Record], Line]:
    return lambda record: ((style, text),)


def _describe_redaction(record: Record) -> Line:
    body = record["body"]
    who, why = read_name(body.get("by")), read_line(body.get("reason"))
    return (("warn", f"· {who} redacted a value: "), ("", why))


_DESCRIBERS: dict[str, Callable[[Record], Line]] = {
    "approval_requested": _describe_question,
    "approval_handed_over": describe_handover,
    "approval_outcome": describe_outcome,
    "denial_contradicted": _describe_contradiction,
    "approval_decided": _describe_decision,
    "approval_expired": _describe_decision,
    "approval_cancelled": _describe_own("✗ the question was withdrawn"),
    "approval_cache_hit": _describe_remembered,
    "user_message": _describe_message,
    "output_shown": _describe_message,
    "injection_accepted": _describe_injection,
    "injection_dropped": _describe_drop,
    "injection_unused": _describe_unused,
    "configuration_changed": _describe_change,
    "shadowed": _describe_shadowed,
    "answer_ignored": _describe_ignored,
    "guard_alarm": _describe_alarm,
    "error": _describe_error,
    "session_suspended": _describe_own(
        "· session suspended: another process can go on with it", "dim"
    ),
    "session_ended": _describe_end,
    "digest_mismatch": _describe_own("✗ what would have run is not what was approved", "bad"),
    "redacted": _describe_redaction,
    "recovered": _describe_own("! the trail was recovered after a crash"),
    "broken": _describe_own("! the trail before this point is damaged", "bad"),
    "segment_removed": _describe_own("! the oldest records were removed"),
}
_TOLD_ONCE = frozenset({"approval_requested", "approval_handed_over"})
_QUIET = frozenset(
    {
        *("log_opened", "checkpoint", "sealed", "writer_connected"),
        *("hook_started", "hook_finished", "hook_registered", "hook_unregistered"),
        *("approval_shown", "approval_cache_stored", "approval_cache_cleared"),
        "output_suppressed",
        "interception_recorded",
    }
)
