"""A verdict of ours, written as the answer that another agent understands."""

from __future__ import annotations

from dataclasses import replace

from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.dialect import TOOL, Dialect, NativeEvent
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.incoming import Incoming
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import UNCHANGED, Verdict

NO_REASON = "Blocked by a hook."
BLOCKED = 2
"""The exit code that blocks at a gate of every agent, as long as there is text on stderr."""


def write_reply(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> Reply:
    """The answer as the agent wants it; what it would not obey is a denial, where it can deny."""
    write = dialect.write_reply
    if write is None:
        raise ValueError(f"{dialect.name} cannot be answered")
    wanted = fit_verdict(dialect, incoming, verdict)
    reply = write(incoming, wanted)
    blocks = wanted.decision == "deny" and "deny" in dialect.events[incoming.native].powers
    if blocks and not _is_denied(dialect, incoming, reply):
        return Reply(code=BLOCKED, stderr=wanted.reason or NO_REASON)
    return reply


def fit_verdict(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> Verdict:
    """The verdict within the powers that an answer has at this event; it only gets stricter."""
    row = dialect.events[incoming.native]
    if verdict.decision == "ask" and "ask" not in row.powers:
        why = f"{verdict.reason or 'A hook asks.'} ({dialect.name} cannot ask a person here)"
        verdict = replace(verdict, decision="deny", reason=why)
    if verdict.decision == "allow" and "allow" not in row.powers:
        verdict = replace(verdict, decision=None)
    if verdict.stop is not None and verdict.decision != "deny" and "deny" in row.powers:
        verdict = replace(verdict, decision="deny", reason=verdict.stop)
    verdict = _fit_changes(dialect, row, incoming, verdict)
    if verdict.decision == "deny":
        reason = (verdict.reason or "").strip() or NO_REASON
        verdict = replace(verdict, reason=reason, tool_input=None, prompt=None)
    return replace(
        verdict,
        context=verdict.context if "inject" in row.powers else (),
        notes=verdict.notes if "tell" in row.powers else (),
        stop=verdict.stop if "stop" in row.powers else None,
    )


def _fit_changes(
    dialect: Dialect, row: NativeEvent, incoming: Incoming, verdict: Verdict
) -> Verdict:
    """What was changed goes out in their terms, or not at all."""
    changed = verdict.tool_input is not None or verdict.prompt is not None
    if changed and "rewrite" not in row.powers:
        why = f"a hook changed this, and {dialect.name} takes no changes at {incoming.native}"
        return replace(verdict, decision="deny", reason=why)
    if verdict.tool_input is not None and row.matched == TOOL:
        ours = str(incoming.data.get("tool_name"))
        theirs = dialect.translate_input(ours, verdict.tool_input)
        verdict = replace(verdict, tool_input=theirs)
    if verdict.output is not UNCHANGED and "replace" not in row.powers:
        why = f"A hook changed what this shows, but {dialect.name} had shown it already."
        verdict = replace(verdict, output=UNCHANGED, notes=(*verdict.notes, why))
    return verdict


def _is_denied(dialect: Dialect, incoming: Incoming, reply: Reply) -> bool:
    """Whether the agent, as we know it, will read a denial in this."""
    handler = Handler(dialect=dialect.name, native=incoming.native, where="guest")
    call = Call(
        event=incoming.event,
        native=incoming.native,
        data=incoming.data,
        session_id=incoming.session_id,
        cwd=incoming.cwd,
    )
    return dialect.read_reply(handler, call, reply).decision == "deny"
