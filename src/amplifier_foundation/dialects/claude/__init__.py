"""Claude Code: settings.json, event → matcher → handlers, all in parallel, open on failure."""

from __future__ import annotations

from typing import Any, Literal

from amplifier_core import events
from amplifier_foundation.dialects.answer import (
    Answer,
    CommonAnswer,
    judge_exit,
    judge_text,
    parse_object,
    validate_answer,
)
from amplifier_foundation.dialects.call import Call
from amplifier_foundation.dialects.dialect import TOOL, Dialect, NativeEvent, Occasion
from amplifier_foundation.dialects.handler import Handler
from amplifier_foundation.dialects.matcher import matches_listed
from amplifier_foundation.dialects.reply import Reply
from amplifier_foundation.dialects.verdict import (
    NOTHING,
    UNCHANGED,
    Decision,
    Verdict,
    report_failure,
)

TOOL_NAMES = {"Todo": "TodoWrite", "Delegate": "Task"}
_PLAIN_IS_CONTEXT = frozenset({"UserPromptSubmit", "SessionStart"})
_END_REASONS = {"user_exit": "prompt_input_exit"}
_NOTIFICATIONS = {"approval_required": "permission_prompt", "awaiting_input": "idle_prompt"}
_DECISIONS: dict[str | None, Decision] = {"block": "deny", "approve": "allow"}


# What hooks are told


def build_common(call: Call) -> dict[str, Any]:
    """The fields that every event has."""
    common: dict[str, Any] = {
        "session_id": call.session_id,
        "transcript_path": call.transcript,
        "cwd": call.cwd,
        "hook_event_name": call.native,
        "permission_mode": "default",
    }
    if call.agent_id is not None:
        common["agent_id"] = call.agent_id
    return common


def build_environment(call: Call) -> dict[str, str]:
    """What scripts look up."""
    return {
        "CLAUDE_PROJECT_DIR": call.cwd,
        "CLAUDE_CODE_SESSION_ID": call.session_id,
        "CLAUDECODE": "1",
    }


def build_response(call: Call) -> dict[str, Any]:
    """A tool's result as an object: scripts look for `.success`, `.stdout` or `.filePath` in it."""
    response = call.response
    output = response.get("output")
    fields = dict(output) if isinstance(output, dict) else {"output": output}
    path = call.input.get("file_path")
    known = {"filePath": path} if isinstance(path, str) else {}
    return {"success": bool(response.get("success", True)), **known, **fields}


def _build_permission(call: Call) -> dict[str, Any]:
    return {"tool_name": TOOL_NAMES.get(call.tool, call.tool), "tool_input": call.input}


def _build_tool(call: Call) -> dict[str, Any]:
    return {**_build_permission(call), "tool_use_id": call.tool_call_id}


def _build_tool_result(call: Call) -> dict[str, Any]:
    duration = call.data.get("duration_ms", 0)
    return {**_build_tool(call), "tool_response": build_response(call), "duration_ms": duration}


def _build_tool_failure(call: Call) -> dict[str, Any]:
    failure = {"error": call.error, "is_interrupt": False}
    return {**_build_tool(call), **failure, "duration_ms": call.data.get("duration_ms", 0)}


def _build_permission_denied(call: Call) -> dict[str, Any]:
    return {**_build_tool(call), "reason": str(call.data.get("how") or "denied")}


def _build_session_end(call: Call) -> dict[str, Any]:
    return {"reason": _END_REASONS.get(str(call.data.get("reason")), "other")}


def _build_stop(call: Call) -> dict[str, Any]:
    return {
        "stop_hook_active": call.blocked_stops > 0,
        "last_assistant_message": call.last_message,
        "background_tasks": [],
        "session_crons": [],
    }


def _build_subagent(call: Call) -> dict[str, Any]:
    agent = str(call.data.get("agent_name") or "")
    child = call.data.get("child_session_id") or call.agent_id or agent
    return {"agent_id": str(child), "agent_type": agent}


def _build_subagent_stop(call: Call) -> dict[str, Any]:
    return {**_build_stop(call), **_build_subagent(call), "agent_transcript_path": ""}


def _build_notification(call: Call) -> dict[str, Any]:
    kind = str(call.data.get("notification_type") or "")
    return {
        "message": str(call.data.get("message") or ""),
        "notification_type": _NOTIFICATIONS.get(kind, kind),
    }


EVENTS: dict[str, NativeEvent] = {
    "PreToolUse": NativeEvent((Occasion(events.TOOL_PRE),), _build_tool, TOOL),
    "PostToolUse": NativeEvent(
        (Occasion(events.TOOL_POST, success=True),), _build_tool_result, TOOL
    ),
    "PostToolUseFailure": NativeEvent(
        (Occasion(events.TOOL_ERROR), Occasion(events.TOOL_POST, success=False)),
        _build_tool_failure,
        TOOL,
    ),
    "PermissionRequest": NativeEvent(
        (Occasion(events.APPROVAL_REQUIRED),), _build_permission, TOOL
    ),
    "PermissionDenied": NativeEvent(
        (Occasion(events.APPROVAL_DENIED),), _build_permission_denied, TOOL
    ),
    "UserPromptSubmit": NativeEvent(
        (Occasion(events.PROMPT_SUBMIT),),
        lambda call: {"prompt": str(call.data.get("prompt", ""))},
    ),
    "SessionStart": NativeEvent(
        (Occasion(events.SESSION_START),),
        lambda call: {"source": call.data.get("source", "startup")},
        "source",
    ),
    "SessionEnd": NativeEvent((Occasion(events.SESSION_END),), _build_session_end, "reason"),
    "Stop": NativeEvent((Occasion(events.ORCHESTRATOR_COMPLETE, success=True),), _build_stop),
    "StopFailure": NativeEvent(
        (Occasion(events.ERROR_ORCHESTRATION),), lambda call: {"error": call.error}
    ),
    "SubagentStart": NativeEvent((Occasion(events.AGENT_SPAWN),), _build_subagent, "agent_type"),
    "SubagentStop": NativeEvent(
        (Occasion(events.AGENT_COMPLETE),), _build_subagent_stop, "agent_type"
    ),
    "PreCompact": NativeEvent(
        (Occasion(events.CONTEXT_PRE_COMPACT),),
        lambda call: {"trigger": call.data.get("trigger"), "custom_instructions": ""},
        "trigger",
    ),
    "PostCompact": NativeEvent(
        (Occasion(events.CONTEXT_POST_COMPACT),),
        lambda call: {"trigger": call.data.get("trigger"), "compact_summary": ""},
        "trigger",
    ),
    "Notification": NativeEvent(
        (Occasion(events.USER_NOTIFICATION),), _build_notification, "notification_type"
    ),
}


# What hooks answer


class Permission(Answer):
    """The decision of a PermissionRequest hook."""

    behavior: Literal["allow", "deny"] | None = None
    message: str | None = None
    updatedInput: dict[str, Any] | None = None  # noqa: N815 - the name on the wire


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


class Output(CommonAnswer):
    """The whole object on stdout."""

    decision: Literal["block", "approve"] | None = None
    hookSpecificOutput: Specific | None = None  # noqa: N815


def read_reply(handler: Handler, call: Call, reply: Reply) -> Verdict:
    """Exit code first, then the JSON on stdout, then plain text."""
    verdict = judge_exit(handler, reply)
    if verdict is not None:
        return verdict
    printed = parse_object(reply.stdout)
    if printed is not None:
        return _read_object(handler, call, printed)
    text = reply.stdout.strip()
    if text and call.native in _PLAIN_IS_CONTEXT:
        return Verdict(context=(text,))
    return judge_text(handler, text)


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
        stop=output.stop,
        quiet=output.suppressOutput,
        title=specific.sessionTitle,
    )


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
    return _DECISIONS.get(output.decision), output.reason, specific.updatedInput


DIALECT = Dialect(
    name="claude",
    events=EVENTS,
    build_common=build_common,
    build_environment=build_environment,
    read_reply=read_reply,
    matches=matches_listed,
    timeout=600.0,
    timeouts={"UserPromptSubmit": 30.0, "SessionEnd": 1.5},
    tool_names=TOOL_NAMES,
)
