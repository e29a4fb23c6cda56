"""A verdict of ours, written as the answer that another agent understands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from amplifier_core import events
from amplifier_hooks.coding_agents.dialects.dialect import (
    TOOL,
    Call,
    Dialect,
    Handler,
    NativeEvent,
    Reply,
)
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import UNCHANGED, Verdict

NO_REASON = "Blocked by a hook."
_GOES_ON = frozenset({events.ORCHESTRATOR_COMPLETE, events.AGENT_COMPLETE})
"""Where a denial makes the agent go on."""

BLOCKED = 2
"""The exit code that blocks at a gate of every agent, as long as there is text on stderr."""


def write_reply(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> Reply:
    """The answer as the agent wants it; what it would not obey is a denial, where it can deny."""
    write = dialect.write_reply
    if write is None:
        raise ValueError(f"{dialect.name} cannot be answered")
    wanted = fit_verdict(dialect, incoming, verdict)
    reply = _try(write, incoming, wanted)
    if reply.failure is None and _is_obeyed(dialect, incoming, wanted, reply):
        return reply
    row = dialect.events[incoming.native]
    if "deny" in row.powers:
        return _block(row, wanted, reply)
    if wanted.output is not UNCHANGED:
        return _try(write, incoming, Verdict(output=f"Withheld: {reply.failure}."))
    return Reply()


def _try(write: Callable[[Incoming, Verdict], Reply], incoming: Incoming, wanted: Verdict) -> Reply:
    """The reply, or the failure to write one: hooks change things to what JSON cannot say."""
    try:
        return write(incoming, wanted)
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        return Reply(failure=f"a hook's change cannot be written as JSON ({error})")


def _block(row: NativeEvent, wanted: Verdict, reply: Reply) -> Reply:
    """In the one way that needs no answer to be understood."""
    if row.refusal:
        return Reply(stdout=row.refusal)
    reason = wanted.reason if wanted.decision == "deny" else reply.failure
    whole = (reason or NO_REASON).encode("utf-8", "replace").decode()
    return Reply(code=BLOCKED, stderr=whole)


def fit_verdict(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> Verdict:
    """The verdict within the powers that an answer has at this event; it only gets stricter."""
    row = dialect.events[incoming.native]
    verdict = _fit_decision(dialect, incoming, verdict)
    verdict = _fit_changes(dialect, row, incoming, verdict)
    verdict = _fit_denial(row, verdict)
    return replace(
        verdict,
        context=verdict.context if "inject" in row.powers else (),
        notes=(*verdict.notes, *verdict.warnings) if "tell" in row.powers else (),
        warnings=(),
        stop=verdict.stop if "stop" in row.powers else None,
    )


def _fit_decision(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> Verdict:
    """A question that cannot be put is a denial, and a permission that is not taken is nothing."""
    row = dialect.events[incoming.native]
    if verdict.decision in ("ask", "defer"):
        if "ask" in row.powers:
            return replace(verdict, decision="ask")
        why = f"{verdict.reason or 'A hook asks.'} ({dialect.name} cannot ask a person here)"
        verdict = _refuse(incoming, verdict, why)
    if verdict.decision == "allow" and "allow" not in row.powers:
        verdict = replace(verdict, decision=None)
    if verdict.stop is not None and row.gate and verdict.decision != "deny":
        verdict = replace(verdict, decision="deny", reason=verdict.stop)
    if verdict.stop is not None and incoming.event in _GOES_ON:
        verdict = replace(verdict, decision=None)
    return verdict


def _refuse(incoming: Incoming, verdict: Verdict, why: str) -> Verdict:
    """Deny what a hook had no business with; at the end of a turn that would start another one."""
    if incoming.event in _GOES_ON:
        return replace(verdict, decision=None, notes=(*verdict.notes, why))
    return replace(verdict, decision="deny", reason=why)


def _fit_changes(
    dialect: Dialect, row: NativeEvent, incoming: Incoming, verdict: Verdict
) -> Verdict:
    """What was changed goes out in their terms, or not at all."""
    changed = verdict.tool_input is not None or verdict.prompt is not None
    if changed and "rewrite" not in row.powers and verdict.decision != "deny":
        why = f"a hook changed this, and {dialect.name} takes no changes at {incoming.native}"
        verdict = _refuse(incoming, replace(verdict, tool_input=None, prompt=None), why)
    if verdict.tool_input is not None and row.matched == TOOL:
        ours = str(incoming.data.get("tool_name"))
        theirs = dialect.translate_input(ours, verdict.tool_input)
        verdict = replace(verdict, tool_input=theirs)
    if verdict.output is not UNCHANGED and "replace" not in row.powers:
        why = f"A hook changed what this shows, but {dialect.name} had shown it already."
        verdict = replace(verdict, output=UNCHANGED, notes=(*verdict.notes, why))
    return verdict


def _fit_denial(row: NativeEvent, verdict: Verdict) -> Verdict:
    """A denial has a reason; where nothing can be denied, the reason is all that is left of it."""
    if verdict.decision != "deny":
        return verdict
    reason = (verdict.reason or "").strip() or NO_REASON
    verdict = replace(verdict, reason=reason, tool_input=None, prompt=None)
    if "deny" in row.powers:
        return verdict
    verdict = replace(verdict, decision=None, reason=None)
    if "replace" in row.powers:
        return replace(verdict, output=reason)
    if "tell" in row.powers and row.matched != TOOL:
        return replace(verdict, notes=(*verdict.notes, reason))
    return replace(verdict, context=(*verdict.context, reason))


def list_ignored(dialect: Dialect, incoming: Incoming, verdict: Verdict) -> list[str]:
    """The answers of hooks, by action, that the agent, as we know it, will not obey here."""
    if verdict == Verdict():
        return []
    read = _read_back(dialect, incoming, write_reply(dialect, incoming, verdict))
    if read.decision == "deny":
        return []  # which is more than anything else
    found = ["deny"] if verdict.decision == "deny" else []
    if verdict.decision in ("ask", "defer") and read.decision != "ask":
        found.append("ask_user")
    if verdict.output is not UNCHANGED and read.output is UNCHANGED:
        found.append("deny" if verdict.withhold else "modify")
    if verdict.tool_input is not None and read.tool_input is None:
        found.append("modify")
    if verdict.prompt is not None and read.prompt is None:
        found.append("modify")
    return found


def _is_obeyed(dialect: Dialect, incoming: Incoming, wanted: Verdict, reply: Reply) -> bool:
    """Whether the agent, as we know it, reads what was decided; a denial is more than a change."""
    read = _read_back(dialect, incoming, reply)
    if read.decision == "deny":
        return True
    return (
        wanted.decision != "deny"
        and (wanted.tool_input is None or read.tool_input is not None)
        and (wanted.prompt is None or read.prompt is not None)
    )


def _read_back(dialect: Dialect, incoming: Incoming, reply: Reply) -> Verdict:
    """What the agent makes of it."""
    handler = Handler(dialect=dialect.name, native=incoming.native, where="guest")
    call = Call(
        event=incoming.event,
        native=incoming.native,
        data=incoming.data,
        session_id=incoming.session_id,
        cwd=incoming.cwd,
    )
    return dialect.read_reply(handler, call, reply)
