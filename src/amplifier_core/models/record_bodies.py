"""The bodies of the records that the kernel writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amplifier_core.models.hook_result import CONTINUE
from amplifier_core.models.injection import Injection
from amplifier_core.models.question import ApprovalQuestion
from amplifier_core.utils import describe_error, digest
from amplifier_core.utils.copying import is_same

_TOO_LONG_TO_REPEAT = frozenset({"messages", "response", "mount_plan", "timestamp", "session_id"})
_KEEP_RESPONSE = _TOO_LONG_TO_REPEAT - {"response"}
_LEFT_OUT = {"provider:response": _KEEP_RESPONSE, "prompt:answer": _KEEP_RESPONSE}
_TOLD = frozenset({"denied_by", "judged_again"})
"""What the registry itself tells hooks."""


OLDER_HANDOVER = "rule:handed over to "
"""In older records, who "decided" a question that was only handed over to another program."""


def leave_out_histories(event: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The event's own fields; the conversation is in the session, not again in every record.

    What a model said and what was handed over are kept once each: with them a session can be
    judged again without its model.
    """
    too_long = _LEFT_OUT.get(event, _TOO_LONG_TO_REPEAT)
    if too_long.isdisjoint(data):
        return data
    kept = {**data}
    for key in too_long:
        kept.pop(key, None)
    return kept


def find_before(event: str, given: Mapping[str, Any], left: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that hooks changed, as they were; None for one that they added."""
    if given is left:
        return {}
    before = leave_out_histories(event, given)
    after = leave_out_histories(event, left)
    return {
        key: before.get(key)
        for key in dict.fromkeys([*before, *after])
        if key not in _TOLD and not is_same(before.get(key), after.get(key))
    }


def describe_answers(run: Any) -> list[dict[str, Any]]:
    """What each hook answered that was called, in order."""
    times = run.times
    if run.spoken or run.unheeded or run.shadowed:
        return [describe_answer(one, run) for one in run.answers if one.handler.id in times]
    return [
        {
            "hook": handler.name,
            "id": handler.id,
            "action": "continue",
            "ms": int(taken * 1_000_000 + 0.5) / 1000,  # `_to_milliseconds`, without its call
        }
        for _, _, handler in run.plan.entries[: run.ran]
        if (taken := times.get(handler.id)) is not None
    ]


def _to_milliseconds(seconds: float) -> float:
    """With three digits; `round` takes three times as long, and every hook is timed."""
    return int(seconds * 1_000_000 + 0.5) / 1000


def describe_answer(answer: Any, run: Any) -> dict[str, Any]:
    """What one hook answered in a run, how long it took, and whether it had an effect."""
    result, error, handler = answer.result, answer.error, answer.handler
    described: dict[str, Any] = {
        "hook": answer.hook,
        "id": handler.id,
        "action": result.action,
        "ms": _to_milliseconds(run.times[handler.id]),
    }
    for one in run.shadowed:
        if one.handler is handler:
            described["shadowed"] = one.result.action
    if result is CONTINUE and error is None:
        return described
    if answer in run.unheeded:
        described["unheeded"] = True
    if result.reason:
        described["reason"] = result.reason
    if error is not None:
        described["error"] = describe_error(error)
        described["timed_out"] = answer.timed_out
    return described


def describe_end(call: Mapping[str, Any], outcome: str, result: Any, spent: int) -> dict[str, Any]:
    """How a tool call ended, and the digest of what it returned, if it did."""
    body = {"tool": call.get("tool_name"), "id": call.get("tool_call_id"), "outcome": outcome}
    if result is not None:
        body |= {"success": result.success, "digest": digest(result.output)}
    body["ms"] = spent
    return body


def describe_registration(handler: Any, mounting: Any) -> dict[str, Any]:
    """How a hook was registered, by which module, and what that was mounted as."""
    described = {
        "priority": handler.priority,
        "on_error": handler.on_error,
        "timeout": handler.timeout,
    }
    if mounting is not None:
        described |= {"kind": mounting.kind, "module": mounting.id}
    return {**described, "shadow": True} if handler.shadow else described


def describe_injection(injection: Injection, tokens: int, why: str | None) -> dict[str, Any]:
    """What a hook wanted to tell the agent, and why it was dropped, if it was."""
    return {
        "role": injection.role,
        "bytes": injection.size,
        "tokens": tokens,
        "ephemeral": injection.ephemeral,
        "text": injection.text,
        **({"why": why} if why else {}),
    }


def describe_request(question: ApprovalQuestion) -> dict[str, Any]:
    """What a person is asked."""
    return {
        "prompt": question.prompt,
        "options": list(question.options),
        "timeout": repr(question.timeout),
        "default": question.default,
        "reason": question.reason,
        "tool": question.tool_name,
        "id": question.tool_call_id,
        "input": question.tool_input,
        "digest": question.digest,
    }


def describe_handover(handover: Any, again: bool) -> dict[str, Any]:
    """That another program asks its own person: what came of it is not known yet."""
    body = {
        "to": handover.to,
        "goes_on": handover.goes_on,
        "tool": handover.tool,
        "id": handover.call,
        "digest": handover.digest,
    }
    return {**body, "again": True} if again else body


def describe_outcome(
    handover: Any, state: str, evidence: str, settles: Mapping[str, str]
) -> dict[str, Any]:
    """What came of a question that another program asked, and what shows it."""
    return {
        "state": state,
        "evidence": evidence,
        **settles,
        "to": handover.to,
        "tool": handover.tool,
        "digest": handover.digest,
    }


def describe_settled(handover: Any) -> dict[str, str]:
    """What was known until now of a question that another program asked, and since when."""
    state = "not_run" if handover.not_run else "not_known"
    return {"settles": state, "id": handover.call, "handed_over_at": handover.at}


def describe_decision(decision: Any, digest: str) -> dict[str, Any]:
    """What came of it."""
    return {
        "allowed": decision.allowed,
        "how": decision.how,
        "decision": decision.decision,
        "by": decision.by,
        "detail": decision.detail,
        "comment": decision.comment,
        "edited": decision.edited_input is not None,
        "digest": digest,
    }
