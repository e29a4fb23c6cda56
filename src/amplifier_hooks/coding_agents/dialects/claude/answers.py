"""What hooks of Claude Code answer: read from others, written by us."""

from __future__ import annotations

import json
from typing import Any, Literal

from amplifier_hooks.coding_agents.dialects.answer import (
    Answer,
    CommonAnswer,
    judge_exit,
    judge_text,
    parse_object,
    report_failure,
    validate_answer,
)
from amplifier_hooks.coding_agents.dialects.call import Call
from amplifier_hooks.coding_agents.dialects.claude.shapes import SHOWN_BY, has_shape, reshape
from amplifier_hooks.coding_agents.dialects.handler import Handler
from amplifier_hooks.coding_agents.dialects.reply import Reply, build_reply
from amplifier_hooks.external.incoming import Incoming
from amplifier_hooks.external.verdicts import NOTHING, UNCHANGED, Decision, Verdict

_PROMPTS = frozenset({"UserPromptSubmit", "UserPromptExpansion"})
_PLAIN_IS_CONTEXT = _PROMPTS | {"SessionStart"}
_TAKES_NO_CODE = frozenset({"PermissionRequest"})
"""Where exit code 2 is a failure as any other."""

_DECISIONS: dict[str | None, Decision] = {"block": "deny", "approve": "allow"}


class Permission(Answer):
    """The decision of a PermissionRequest hook."""

    behavior: Literal["allow", "deny"] | None = None
    message: str | None = None
    updatedInput: dict[str, Any] | None = None  # noqa: N815 - the name on the wire
    interrupt: bool = False


class Specific(Answer):
    """`hookSpecificOutput`, the fields that mean something here."""

    hookEventName: str | None = None  # noqa: N815
    permissionDecision: Decision | None = None  # noqa: N815
    permissionDecisionReason: str | None = None  # noqa: N815
    updatedInput: dict[str, Any] | None = None  # noqa: N815
    additionalContext: str | None = None  # noqa: N815
    updatedToolOutput: Any = UNCHANGED  # noqa: N815
    updatedMCPToolOutput: Any = UNCHANGED  # noqa: N815
    initialUserMessage: str | None = None  # noqa: N815
    sessionTitle: str | None = None  # noqa: N815
    decision: Permission | None = None
    action: Literal["accept", "decline", "cancel"] | None = None


class Output(CommonAnswer):
    """The whole object on stdout."""

    decision: Literal["block", "approve"] | None = None
    hookSpecificOutput: Specific | None = None  # noqa: N815


# Read


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Exit code first, then the JSON on stdout, then plain text."""
    judged = judge_exit(handler, reply, blocks=call.native not in _TAKES_NO_CODE)
    printed = parse_object(reply.stdout)
    if judged is not None:
        return _look_for_denial(handler, call, reply, printed, judged)
    if printed is not None:
        return _read_object(handler, call, printed)
    text = reply.stdout.strip()
    if text and call.native in _PLAIN_IS_CONTEXT:
        return Verdict(context=(text,))
    return judge_text(handler, text)


def _look_for_denial(
    handler: Handler, call: Call, reply: Reply, printed: dict[str, Any] | None, judged: Verdict
) -> Verdict:
    """A hook that fails after it has printed a denial has denied."""
    if printed is None or reply.failure is not None or judged.decision == "deny":
        return judged
    verdict = _read_object(handler, call, printed)
    return verdict if verdict.decision == "deny" else judged


def _read_object(handler: Handler, call: Call, printed: dict[str, Any]) -> Verdict:
    if printed.get("async") is True:
        return NOTHING
    output = validate_answer(Output, handler, printed)
    if isinstance(output, Verdict):
        return output
    specific = output.hookSpecificOutput or Specific()
    if specific.hookEventName not in (None, call.native):
        sentence = (
            f"Hook {handler.label!r} answered for {specific.hookEventName!r}, "
            f"but was asked about {call.native!r}"
        )
        return report_failure(sentence, fail_closed=handler.fail_closed)
    return _build_verdict(output, specific)


def _build_verdict(output: Output, specific: Specific) -> Verdict:
    decision, reason, tool_input = _decide(output, specific)
    context = (specific.additionalContext, specific.initialUserMessage)
    written = specific.updatedToolOutput
    return Verdict(
        decision=decision,
        reason=reason,
        tool_input=tool_input,
        output=specific.updatedMCPToolOutput if written is UNCHANGED else written,
        context=tuple(text for text in context if text),
        notes=output.notes,
        stop=output.stop or _read_interrupt(specific.decision),
        quiet=output.suppressOutput,
        title=specific.sessionTitle,
    )


def _read_interrupt(chosen: Permission | None) -> str | None:
    if chosen is None or not chosen.interrupt or chosen.behavior != "deny":
        return None
    return chosen.message or "A hook ended the run."


def _decide(
    output: Output, specific: Specific
) -> tuple[Decision | None, str | None, dict[str, Any] | None]:
    """The decision, its reason and the rewritten input, in whichever way they were written."""
    if specific.permissionDecision is not None:
        reason = specific.permissionDecisionReason or output.reason
        return specific.permissionDecision, reason, specific.updatedInput
    if specific.decision is not None:
        chosen = specific.decision
        return chosen.behavior, chosen.message, chosen.updatedInput
    if specific.action in ("decline", "cancel"):
        return "deny", output.reason, None
    return _DECISIONS.get(output.decision), output.reason, specific.updatedInput


# Written


def write_reply(incoming: Incoming, verdict: Verdict) -> Reply:
    """One JSON object on stdout, or nothing where there is nothing to say."""
    answer = build_answer(incoming, verdict)
    if verdict.decision == "deny" and incoming.native in _PROMPTS:
        # What is refused may hold a secret: it is not repeated on the screen.
        named = answer.setdefault("hookSpecificOutput", {"hookEventName": incoming.native})
        named["suppressOriginalPrompt"] = True
    return build_reply(answer)


def build_answer(incoming: Incoming, verdict: Verdict) -> dict[str, Any]:
    """That object."""
    native = incoming.native
    answer: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    if native == "PreToolUse":
        specific = _write_decision(verdict)
    elif native == "PermissionRequest":
        specific = _write_permission(verdict)
    elif verdict.decision == "deny":
        answer, specific = _write_block(native, verdict)
    context = verdict.context
    if verdict.output is not UNCHANGED:
        specific |= _write_output(incoming, verdict.output)
        context = (*context, *_list_unseen(incoming, verdict.output))
    if context:
        specific["additionalContext"] = "\n\n".join(context)
    if specific:
        answer["hookSpecificOutput"] = {"hookEventName": native, **specific}
    return answer | _write_common(native, verdict)


def _write_common(native: str, verdict: Verdict) -> dict[str, Any]:
    """What stands above the answer to an event."""
    common: dict[str, Any] = {}
    if verdict.notes:
        common["systemMessage"] = "\n".join(verdict.notes)
    if verdict.stop is not None and native != "PermissionRequest":
        common |= {"continue": False, "stopReason": verdict.stop}
    return common


def _write_decision(verdict: Verdict) -> dict[str, Any]:
    """To stop the run is not to stop the tool: the denial stands there as well."""
    specific: dict[str, Any] = {}
    if verdict.decision is not None:
        specific["permissionDecision"] = verdict.decision
        if verdict.reason:
            specific["permissionDecisionReason"] = verdict.reason
    if verdict.tool_input is not None:
        specific["updatedInput"] = verdict.tool_input
    return specific


def _write_block(native: str, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands at the top, and what is of this event alone."""
    if native == "PreModelSwitch":
        return {}, _write_decision(verdict)
    if native in ("Elicitation", "ElicitationResult"):
        return {"reason": verdict.reason}, {"action": "decline"}
    return {"decision": "block", "reason": verdict.reason}, {}


def _write_permission(verdict: Verdict) -> dict[str, Any]:
    """An input can be changed only by allowing it."""
    if verdict.decision == "allow":
        changed = {} if verdict.tool_input is None else {"updatedInput": verdict.tool_input}
        return {"decision": {"behavior": "allow", **changed}}
    if verdict.decision == "deny":
        interrupt = {} if verdict.stop is None else {"interrupt": True}
        return {"decision": {"behavior": "deny", "message": verdict.reason, **interrupt}}
    if verdict.tool_input is not None:
        why = "a hook changed this without allowing it, and here one is not taken without the other"
        return {"decision": {"behavior": "deny", "message": why}}
    return {}


def _write_output(incoming: Incoming, output: Any) -> dict[str, Any]:
    shape = incoming.payload.get("tool_response")
    tool = str(incoming.payload.get("tool_name"))
    if tool.startswith("mcp__"):
        taken = output if isinstance(output, str | list) else json.dumps(output)
        return {"updatedMCPToolOutput": taken}
    if not isinstance(output, str) and has_shape(shape, output):
        return {"updatedToolOutput": output}
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)
    return {"updatedToolOutput": reshape(tool, shape, text)}


def _list_unseen(incoming: Incoming, output: Any) -> tuple[str, ...]:
    """A text that the model would not find in the result of this tool."""
    tool = str(incoming.payload.get("tool_name"))
    seen = tool in SHOWN_BY or tool.startswith("mcp__")
    return () if seen or not isinstance(output, str) else (output,)
