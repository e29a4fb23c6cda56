"""Gemini CLI's answers: what it makes of a hook's reply, and how to tell it a verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from amplifier_hooks.coding_agents.dialects.answer import combine, judge_text, report_failure
from amplifier_hooks.coding_agents.dialects.dialect import (
    Call,
    Handler,
    Reply,
    build_reply,
    get_text,
)
from amplifier_hooks.coding_agents.dialects.gemini.events import (
    build_messages,
    read_input,
    read_messages,
)
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Decision, Verdict

_DECISIONS: dict[Any, Decision] = {
    "allow": "allow",
    "approve": "allow",
    "deny": "deny",
    "block": "deny",
    "ask": "ask",
}
_TAKES_CONTEXT = frozenset({"AfterTool", "BeforeAgent", "SessionStart"})
_NO_OUTPUT = "(no output)"


# What a hook's reply means


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """JSON whatever the exit code is, or text: a denial above 1, a message for the person at 0."""
    if reply.failure is not None:
        return report_failure(reply.failure, fail_closed=handler.fail_closed)
    text = reply.stdout.strip() or reply.stderr.strip()
    printed = _parse(text)
    if isinstance(printed, Mapping):
        return _read_object(handler, call, printed)
    if reply.code == 0:
        return _read_text(handler, text) if printed is None else NOTHING
    if reply.code > 1 and text and printed is None:
        return Verdict(decision="deny", reason=text, withhold=True)
    line = text.splitlines()[0] if text else "no message"
    sentence = f"Hook {handler.label!r} exited with {reply.code}: {line}"
    return report_failure(sentence, fail_closed=handler.fail_closed)


def _parse(text: str) -> Any:
    """The value that was printed as JSON, or as JSON in a text; None if it is none."""
    try:
        value = json.loads(text)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return None


def _read_text(handler: Handler, text: str) -> Verdict:
    """Text is shown to the person; text that begins like an object is a failed answer."""
    verdict = judge_text(handler, text)
    return Verdict(notes=(text,)) if verdict is NOTHING and text else verdict


def _read_object(handler: Handler, call: Call, printed: Mapping[str, Any]) -> Verdict:
    """Gemini checks no types: what has the right one counts, whatever stands beside it."""
    decision = printed.get("decision")
    known = _DECISIONS.get(decision) if isinstance(decision, str) else None
    verdict = _build_verdict(call, printed, known)
    if decision is None or known is not None:
        return verdict
    sentence = f"Hook {handler.label!r} answered with a wrong 'decision': {decision!r:.100}"
    return combine([verdict, report_failure(sentence, fail_closed=handler.fail_closed)])


def _build_verdict(call: Call, printed: Mapping[str, Any], decision: Decision | None) -> Verdict:
    specific = printed.get("hookSpecificOutput")
    specific = specific if isinstance(specific, Mapping) else {}
    context = get_text(specific, "additionalContext") if call.native in _TAKES_CONTEXT else ""
    note = get_text(printed, "systemMessage")
    ended = get_text(printed, "stopReason") or "A hook ended the run."
    return Verdict(
        decision=decision,
        reason=get_text(printed, "reason") or None,
        withhold=True,
        tool_input=_read_input(call, specific),
        messages=_read_request(specific),
        context=(context,) if context else (),
        notes=(note,) if note else (),
        stop=ended if printed.get("continue") is False else None,
        quiet=printed.get("suppressOutput") is True,
    )


def _read_input(call: Call, specific: Mapping[str, Any]) -> dict[str, Any] | None:
    """The whole new input, with our names of its fields."""
    given = specific.get("tool_input")
    if call.native != "BeforeTool" or not isinstance(given, Mapping):
        return None
    return read_input(call.tool, given)


def _read_request(specific: Mapping[str, Any]) -> list[Any] | None:
    request = specific.get("llm_request")
    messages = request.get("messages") if isinstance(request, Mapping) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return None
    return read_messages(messages)


# How to tell Gemini a verdict


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """Its own object: a decision at the top, changes below `hookSpecificOutput`."""
    reason = _word_refusal(incoming, verdict)
    return build_reply(
        {
            "continue": None if verdict.stop is None else False,
            "stopReason": verdict.stop,
            "decision": None if reason is None else "deny",
            "reason": reason,
            "systemMessage": "\n".join(verdict.notes) or None,
            "hookSpecificOutput": None if reason else _write_changes(incoming, verdict),
        }
    )


def _word_refusal(incoming: Incoming, verdict: Verdict) -> str | None:
    """Why not; after a tool this text is all that the model gets to see of the result."""
    if verdict.decision == "deny":
        shown = verdict.reason
    elif incoming.native == "AfterTool" and verdict.output is not UNCHANGED:
        shown = _word_output(verdict.output)
    else:
        return None
    # Gemini drops the context of an answer that denies.
    return "\n\n".join((shown or "", *verdict.context)).strip() or _NO_OUTPUT


def _word_output(output: Any) -> str:
    """The text of a result: it is one, or parts with texts, or something else."""
    if isinstance(output, list):
        return "\n".join(_word_output(part) for part in output)
    text = output.get("text") if isinstance(output, Mapping) else output
    return text if isinstance(text, str) else json.dumps(output, ensure_ascii=False, default=str)


def _write_changes(incoming: Incoming, verdict: Verdict) -> dict[str, Any] | None:
    changes: dict[str, Any] = {}
    if verdict.tool_input is not None:
        changes["tool_input"] = verdict.tool_input
    if verdict.messages is not None and incoming.native == "BeforeModel":
        request = incoming.payload.get("llm_request")
        request = request if isinstance(request, Mapping) else {}
        changes["llm_request"] = {**request, "messages": build_messages(verdict.messages)}
    if verdict.context:
        changes["additionalContext"] = "\n\n".join(verdict.context)
    return {"hookEventName": incoming.native, **changes} if changes else None
